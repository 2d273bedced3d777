import type { Row } from './row.js'
import { csvRows } from './rows/csv.js'
import { coldRows, latencyRows } from './rows/download.js'
import { lakeRows } from './rows/lake.js'
import { memoryRows } from './rows/memory.js'
import { parquetRows } from './rows/parquet.js'
import { exportRows, serveRows } from './rows/serve.js'
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
  f: { needs: [], rows: startRows },
  g: { needs: ['wrk'], hasHeadline: true, rows: serveRows },
  serve: { needs: [], rows: exportRows },
  h: { needs: [], rows: memoryRows },
  i: { needs: [], hasHeadline: true, rows: verifyRows },
  k: { needs: [], hasHeadline: true, rows: lakeRows },
}
