export { downloadKlines, type KlinesRequest } from './download/download-klines.js'
export {
  type KlineBatchesRequest,
  klineBatches,
  klineRows,
  type SeriesRow,
} from './download/kline-batches.js'
export type { SourceOptions } from './download/open-source.js'
export type { DownloadReport, Progress, SeriesReport, WindowCounts } from './download/settlement.js'
export {
  type ExportReport,
  type ExportRequest,
  exportKlines,
} from './export/export-klines.js'
export { FORMATS, type Format } from './export/format.js'
export {
  NUMBER_TYPES,
  type NumberType,
  OUTPUT_COLUMNS,
  type OutputColumn,
  TIME_FORMATS,
  type TimeFormat,
} from './export/shape.js'
export type { WrittenFile } from './export/write-targets.js'
export {
  knownStartDates,
  type WindowSpan,
  windowSpan,
} from './klines/calendar.js'
export { COLUMNS, type Column, type KlineRow } from './klines/columns.js'
export type { ChangedCell } from './klines/compare.js'
export { type ErrorCode, isKlinesError, KlinesError } from './klines/errors.js'
export {
  INTERVALS,
  type Interval,
  nextOpenTime,
  parseInterval,
} from './klines/intervals.js'
export { KlineBatch } from './klines/kline-batch.js'
export { SYMBOLS_PATH, startDatesPath, windowPath } from './klines/paths.js'
export { type ResampleOptions, resample } from './klines/resampler.js'
export type { Series, WindowRef } from './klines/series.js'
export { parseSymbol, SYMBOLS, type SymbolName } from './klines/symbols.js'
export { decodeWindow } from './klines/window-codec.js'
export { type RunningSample, startSample } from './server/sample.js'
export { GREETING_BASE_URL, type LocalEndpoint, PUBLIC_BASE_URL } from './service/base-url.js'
export type { OpenApiDocument } from './service/greeting-answers.js'
export type { Token, UserUpdate, UserUpdateResult } from './service/greeting-schema.js'
export type { GreetingService, UserUpdateFields } from './service/greeting-service.js'
export { type GreetingOptions, openGreetingService } from './service/open-greeting.js'
