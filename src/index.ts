export { PUBLIC_BASE_URL } from './candles/base-url.js'
export { COLUMNS, type KlineNumbers, type KlineObject, type KlineRow } from './candles/columns.js'
export { type ErrorCode, isKlinesError, KlinesError } from './candles/errors.js'
export { EXCHANGE_INTERVALS, INTERVALS, type Interval, nextOpenTime, parseInterval } from './candles/intervals.js'
export type { Series } from './candles/series.js'
export { parseSymbol, SYMBOLS } from './candles/symbols.js'
export { knownStartDates, windowSpan } from './candles/windows.js'
export { type ExportReport, type ExportRequest, exportKlines } from './engine/export.js'
export type { FollowRequest } from './engine/follow.js'
export {
  type DownloadRequest,
  downloadKlines,
  followKlines,
  klineBatches,
  klineRows,
  type ReadRequest,
  type SeriesRow,
  updateKlines,
} from './engine/klines.js'
export { type FundingRequest, listFunding, listSymbols } from './engine/lists.js'
export type { DownloadReport } from './engine/report.js'
export type { KlinesEvent, SourceOptions } from './engine/run.js'
export { checkLock, type LockCheck, type LockCheckRequest } from './identity/check-lock.js'
export { type DiffReport, type DiffRequest, diffKlines } from './identity/diff.js'
export {
  fingerprintFiles,
  fingerprintKlines,
  type RangeFingerprints,
} from './identity/fingerprint.js'
export { type LockReport, type LockRequest, lockKlines } from './identity/lock.js'
export { LAYOUTS } from './lake/layout.js'
export type { LakeRequest } from './lake/plan.js'
export { exportLake, type LakeReport } from './lake/update.js'
export type { PublishReport } from './mirror/publish.js'
export { type MirrorStatus, mirrorStatus } from './mirror/user-mirrors.js'
export { COMPRESSIONS, FORMATS, type Format, NUMBER_TYPES, OUTPUT_COLUMNS, TIME_FORMATS } from './options.js'
export type { Coverage } from './rows/coverage.js'
export type { KlineBatch } from './rows/kline-batch.js'
export { parseTargetInterval } from './rows/target-interval.js'
export { publishMirror } from './server/publish.js'
export { type ServeRequest, serve } from './server/serve.js'
export type { Serving } from './server/server.js'
export type { ArchiveReport, FundingRate } from './sources/source.js'
export { type StatsReport, statsKlines } from './verify/stats.js'
export { type VerificationReport, type VerifyRequest, verifyKlines } from './verify/verify.js'
