export {
  type FileFingerprint,
  type FingerprintFilesOptions,
  fingerprintFiles,
} from './candle-files/fingerprint-files.js'
export { listSymbols } from './download/catalogue.js'
export { type DownloadRequest, downloadKlines, type KlinesRequest } from './download/download.js'
export type {
  EventOptions,
  KlinesEvent,
  NetworkEvent,
  PlanEvent,
  ProgressEvent,
  WarningEvent,
  WindowEvent,
} from './download/events.js'
export { type MirrorStatus, mirrorStatus } from './download/mirror-status.js'
export { type PublishOptions, type PublishReport, publishMirror } from './download/publish.js'
export { type BatchRequest, klineBatches, klineRows, type ReadRequest, type SeriesRow } from './download/read.js'
export type { IntervalText, SelectionRequest } from './download/selection.js'
export type { SourceOptions } from './download/sources/source-options.js'
export type { WindowStatus } from './download/sources/window-source.js'
export type {
  DownloadedSeries,
  DownloadReport,
  SeriesReport,
  WindowCounts,
} from './download/tally.js'
export { type ExportRequest, exportKlines } from './export/export.js'
export type { ResampleRequest } from './export/export-series.js'
export {
  type CoveredFingerprint,
  type FingerprintRequest,
  fingerprintKlines,
  type RangeFingerprints,
} from './export/fingerprint-klines.js'
export type { OutputStream } from './export/output/given-stream.js'
export type { WrittenFile } from './export/output-writer.js'
export type { ExportReport } from './export/write.js'
export type { FingerprintReport, SeriesFingerprint, YearDigest } from './fingerprint/fingerprint.js'
export { PUBLIC_BASE_URL } from './http/base-url.js'
export type { NetworkActivity } from './http/retrying-fetcher.js'
export type { Coverage } from './klines/audit/coverage.js'
export type { SeriesTotals } from './klines/audit/gap-counter.js'
export type { ChangedCell, WindowChange } from './klines/batch/diff.js'
export type { KlineBatch } from './klines/batch/kline-batch.js'
export { COLUMNS, type Column, type KlineNumbers, type KlineObject, type KlineRow } from './klines/columns.js'
export { type ErrorCode, type ErrorData, type ErrorDetails, isKlinesError, KlinesError } from './klines/errors.js'
export { EXCHANGE_INTERVALS, INTERVALS, type Interval, nextOpenTime, parseInterval } from './klines/intervals.js'
export { parseTargetInterval, type TargetInterval } from './klines/resample/target-interval.js'
export type { Series, SeriesLabel, WindowRef } from './klines/series.js'
export { parseSymbol, SYMBOLS, type SymbolName, type SymbolPattern } from './klines/symbols.js'
export type { RangeText, RequestedRange, TimeRange, TimeText } from './klines/time-range.js'
export { knownStartDates, type WindowSpan, windowSpan } from './klines/windows.js'
export { exportLake, type LakeRequest } from './lake/export-lake.js'
export { LAYOUTS, type Layout, PARTITIONS, type Partition } from './lake/layout.js'
export type { LakeChanges, LakeReport } from './lake/update.js'
export {
  type CheckedSeries,
  checkLock,
  type LockCheck,
  type LockCheckRequest,
  type RestatedCell,
} from './lock/check-lock.js'
export type { YearChange } from './lock/compare.js'
export type { Lock, LockedSeries } from './lock/lock-file.js'
export { type LockReport, type LockRequest, lockKlines } from './lock/lock-klines.js'
export type { CandleStatus } from './mirror/status.js'
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
export { type ServeRequest, type Serving, serve } from './server/serve.js'
export type { VerificationReport, VerifiedSeries } from './verify/verify.js'
export { type VerifyRequest, verifyKlines } from './verify/verify-klines.js'
