export { COLUMNS, type Column, type KlineNumbers, type KlineObject, type KlineRow } from './candles/columns.js'
export { type ErrorCode, type ErrorData, type ErrorDetails, isKlinesError, KlinesError } from './candles/errors.js'
export { EXCHANGE_INTERVALS, INTERVALS, type Interval, nextOpenTime, parseInterval } from './candles/intervals.js'
export type { Series, SeriesLabel, WindowRef } from './candles/series.js'
export { parseSymbol, SYMBOLS, type SymbolName, type SymbolPattern } from './candles/symbols.js'
export type { RangeText, RequestedRange, TimeRange, TimeText } from './candles/time-range.js'
export { knownStartDates, type WindowSpan, windowSpan } from './candles/windows.js'
export { listSymbols } from './engine/catalogue.js'
export type { Coverage } from './engine/coverage.js'
export { type DownloadRequest, downloadKlines, type UpdateRequest, updateKlines } from './engine/download.js'
export type {
  EventOptions,
  KlinesEvent,
  NetworkEvent,
  PlanEvent,
  ProgressEvent,
  WarningEvent,
  WindowEvent,
} from './engine/events.js'
export { type ExportReport, type ExportRequest, exportKlines } from './engine/export.js'
export { type MirrorStatus, mirrorStatus } from './engine/mirror-status.js'
export type { WindowDifference, WindowStatus } from './engine/outcome.js'
export type { OutputStream } from './engine/output/given-stream.js'
export type { WrittenFile } from './engine/output/output-writer.js'
export type { PlanRequest } from './engine/plan.js'
export { type PublishReport, publishMirror } from './engine/publish.js'
export type { CoveredReport, DownloadReport, ReportOptions, SeriesReport, WindowCounts } from './engine/report.js'
export { klineBatches, klineRows, type ReadRequest, type SeriesRow } from './engine/rows.js'
export type { SourceOptions } from './engine/run.js'
export type { IntervalText, SelectionRequest } from './engine/selection.js'
export type { ThreadOptions } from './engine/threads.js'
export {
  type CheckedSeries,
  checkLock,
  type LockCheck,
  type LockCheckRequest,
  type YearChange,
} from './identity/check-lock.js'
export {
  type CoveredFingerprint,
  type FileFingerprint,
  fingerprintFiles,
  fingerprintKlines,
  type RangeFingerprints,
} from './identity/fingerprint.js'
export { type LockReport, type LockRequest, lockKlines } from './identity/lock.js'
export type { Lock, LockedSeries } from './identity/lock-file.js'
export { LAYOUTS, type Layout, PARTITIONS, type Partition } from './lake/layout.js'
export type { LakeRequest } from './lake/plan.js'
export { exportLake, type LakeChanges, type LakeReport } from './lake/update.js'
export type { SeriesStatus } from './mirror/status.js'
export { FORMATS, type Format } from './options/formats.js'
export {
  COMPRESSIONS,
  type Compression,
  NUMBER_TYPES,
  type NumberType,
  OUTPUT_COLUMNS,
  type OutputColumn,
  type OutputRequest,
  TIME_FORMATS,
  type TimeFormat,
} from './options/output-options.js'
export type { ChangedCell } from './rows/diff.js'
export type { FingerprintReport, SeriesFingerprint, YearDigest } from './rows/fingerprint.js'
export type { SeriesTotals } from './rows/gaps.js'
export type { KlineBatch } from './rows/kline-batch.js'
export { parseTargetInterval, type TargetInterval } from './rows/target-interval.js'
export { type ServeRequest, serve } from './server/serve.js'
export type { Serving } from './server/server.js'
export { PUBLIC_BASE_URL } from './sources/base-url.js'
export type { NetworkActivity } from './sources/fetcher.js'
export type { JudgedSeries } from './verify/verdict.js'
export { type VerificationReport, type VerifyRequest, verifyKlines } from './verify/verify.js'
