export { downloadKlines, type KlinesRequest } from './download/download.js'
export type { SourceOptions } from './download/open-source.js'
export {
  type KlineBatchesRequest,
  klineBatches,
  klineRows,
  type SeriesRow,
} from './download/read.js'
export type { DownloadReport, Progress, SeriesReport, WindowCounts } from './download/tally.js'
export {
  type ExportReport,
  type ExportRequest,
  exportKlines,
} from './export/export.js'
export { FORMATS, type Format } from './export/formats/format.js'
export {
  NUMBER_TYPES,
  type NumberType,
  OUTPUT_COLUMNS,
  type OutputColumn,
  TIME_FORMATS,
  type TimeFormat,
} from './export/row-format.js'
export type { WrittenFile } from './export/write.js'
export type { GreetingClient, UserUpdateFields } from './greeting-client/client.js'
export { type GreetingOptions, openGreetingClient } from './greeting-client/open.js'
export type { OpenApiDocument } from './greeting-client/parse.js'
export type { Token, UserUpdate, UserUpdateResult } from './greeting-client/schema.js'
export { GREETING_BASE_URL, type LocalEndpoint, PUBLIC_BASE_URL } from './http/base-url.js'
export type { ChangedCell } from './klines/batch/diff.js'
export { KlineBatch } from './klines/batch/kline-batch.js'
export { decodeWindow } from './klines/batch/window-codec.js'
export { COLUMNS, type Column, type KlineRow } from './klines/columns.js'
export { type ErrorCode, isKlinesError, KlinesError } from './klines/errors.js'
export {
  INTERVALS,
  type Interval,
  nextOpenTime,
  parseInterval,
} from './klines/intervals.js'
export { SYMBOLS_PATH, startDatesPath, windowPath } from './klines/paths.js'
export { type ResampleOptions, resample } from './klines/resample/resampler.js'
export type { Series, WindowRef } from './klines/series.js'
export { parseSymbol, SYMBOLS, type SymbolName } from './klines/symbols.js'
export {
  knownStartDates,
  type WindowSpan,
  windowSpan,
} from './klines/windows.js'
export { type RunningSample, startSample } from './server/sample.js'
