import type { Row } from './row.js'
import { csvRows } from './rows/csv.js'
import { coldRows, latencyRows } from './rows/download.js'
import { exchangeRows } from './rows/exchange.js'
import { fingerprintRows } from './rows/fingerprint.js'
import { growthRows } from './rows/growth.js'
import { lakeRows } from './rows/lake.js'
import { memoryRows } from './rows/memory.js'
import { minutesRows } from './rows/minutes.js'
import { parquetRows } from './rows/parquet.js'
import { rerunRows } from './rows/rerun.js'
import { serveRows } from './rows/serve.js'
import { startRows } from './rows/start.js'
import { verifyRows } from './rows/verify.js'
import type { Workspace } from './workspace.js'

/** Rows that share a setup. */
export interface Section {
  /** Programs without which it cannot be measured at all. */
  readonly needs: readonly string[]
  /** Whether src/docs/reliability.md has a row of it. */
  readonly hasHeadline?: boolean
  rows(workspace: Workspace): Row[] | Promise<Row[]>
}

/** All sections by the names that the command line takes. */
export const SECTIONS: Readonly<Record<string, Section>> = {
  a: { needs: [], hasHeadline: true, rows: csvRows },
  b: { needs: [], hasHeadline: true, rows: parquetRows },
  c: { needs: ['nginx'], rows: coldRows },
  d: { needs: ['nginx'], hasHeadline: true, rows: latencyRows },
  e: { needs: ['nginx'], rows: rerunRows },
  f: { needs: [], rows: startRows },
  g: { needs: ['wrk'], hasHeadline: true, rows: serveRows },
  h: { needs: [], rows: memoryRows },
  i: { needs: [], hasHeadline: true, rows: verifyRows },
  j: { needs: [], rows: exchangeRows },
  k: { needs: [], hasHeadline: true, rows: lakeRows },
  l: { needs: [], rows: fingerprintRows },
  growth: { needs: ['nginx'], rows: growthRows },
  minutes: { needs: [], rows: minutesRows },
}
