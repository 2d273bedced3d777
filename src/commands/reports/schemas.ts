/** The objects that `--json` prints, as JSON Schema, with their types: `klines/report-schemas`. */
import type { JsonOf, JsonSchema } from '../../cli/report.js'
import { list, object, objectSchema, optional, reportSchema, text } from '../../cli/report.js'
import { Chart } from './chart.js'
import { DiffReport } from './diff.js'
import { Funding, Intervals, StartDates, Stats, Symbols } from './lists.js'
import { Completion, Config, ConfigSet, ConfigUnset, MirrorPublish, MirrorReport, Serve, UsersUpdate } from './local.js'
import { Fingerprint, LockSummary, LockVerdict } from './lock.js'
import { DryRun, Run } from './run.js'
import { Verify } from './verify.js'

export type { JsonOf }
export const ChartSchema = Chart.schema
export const CompletionSchema = Completion.schema
export const ConfigSchema = Config.schema
export const ConfigSetSchema = ConfigSet.schema
export const ConfigUnsetSchema = ConfigUnset.schema
export const DiffSchema = DiffReport.schema
export const DryRunSchema = DryRun.schema
export const FingerprintSchema = Fingerprint.schema
export const FundingSchema = Funding.schema
export const IntervalsSchema = Intervals.schema
export const LockCheckSchema = LockVerdict.schema
export const LockSchema = LockSummary.schema
export const MirrorPublishSchema = MirrorPublish.schema
export const MirrorSchema = MirrorReport.schema
export const RunSchema = Run.schema
export const ServeSchema = Serve.schema
export const StartDatesSchema = StartDates.schema
export const StatsSchema = Stats.schema
export const SymbolsSchema = Symbols.schema
export const UsersUpdateSchema = UsersUpdate.schema
export const VerifySchema = Verify.schema

/** `version --json`, which has no warnings. */
export const VersionSchema = {
  $id: 'klines-version',
  ...objectSchema({ name: text(), version: text(), platform: text('such as linux-x64'), node: text('its version') }),
}

/** What any command prints with `--json` when it fails. */
export const ErrorSchema = reportSchema('klines-error', {
  error: object({
    code: text(),
    message: text(),
    exitCode: { schema: { type: 'integer', minimum: 1, maximum: 255 } as JsonSchema<number> },
    suggestions: list(text()),
    data: optional({ schema: { type: 'object' } as JsonSchema<Readonly<Record<string, unknown>>> }),
  }),
})

/** `streams tokens --json`: the tokens of the server, which may say more. */
export const StreamsTokensSchema: JsonSchema<{ readonly message: string }[]> = {
  $id: 'klines-streams-tokens',
  type: 'array',
  items: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
}

/** `openapi --json`: the document of the server. */
export const OpenapiSchema: JsonSchema<{ readonly openapi: string }> = {
  $id: 'klines-openapi',
  type: 'object',
  properties: { openapi: { type: 'string', description: 'version of the format' } },
  required: ['openapi'],
}
