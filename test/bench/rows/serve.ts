import { type BesideExports, measureBesideExports } from '../beside-exports.js'
import { startNginx } from '../nginx.js'
import type { Contender, Measured, Row } from '../row.js'
import { fetchAll, type ServedTree, startServed } from '../served-tree.js'
import { seriesFiles } from '../window-lists.js'
import { klines, type Workspace } from '../workspace.js'
import { runWrk } from '../wrk.js'

const WARM_FILES = 300
const COLD_FILES = 500

type Start = (workspace: Workspace) => Promise<ServedTree>

const SERVERS: readonly [name: string, start: Start, program?: string][] = [
  ['klines', ({ slice }) => startServed(klines(['serve', '--port', '0', '--json', '--mirror', slice]))],
  ['nginx', workspace => startNginx(workspace), 'nginx'],
]

/** Servers of the slice: a small file repeatedly, many windows in turn, and many files once right after the start. */
export function serveRows(workspace: Workspace): Row[] {
  const all = seriesFiles(workspace.slice).flatMap(({ files }) => files)
  // Spread over all series, long and short ones.
  const spread = (count: number) =>
    Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)])
  const windows = spread(WARM_FILES).map(file => file.slice(workspace.slice.length))
  const cold = spread(COLD_FILES)
  return [
    {
      title: 'serve a list of start dates, warm',
      unit: 'requests/s',
      contenders: warm(workspace, ['/api/klines/start-dates/1d.json']),
      targets: [{ peer: 'nginx', least: 0.4 }],
    },
    {
      title: `serve ${WARM_FILES} windows in turn, warm`,
      unit: 'requests/s',
      isHeadline: true,
      contenders: warm(workspace, windows),
      targets: [{ peer: 'nginx', least: 0.85 }],
    },
    {
      title: `serve ${COLD_FILES} windows once, cold`,
      unit: 'files/s',
      contenders: contenders(workspace, server => fetchAll(server.url, workspace.slice, cold)),
      targets: [],
    },
  ]
}

/** 50 clients that export a year of 1h for 30 s, and a small request each 100 ms beside them: one run, two rows. */
export function exportRows({ slice }: Workspace): Row[] {
  let run: Promise<BesideExports> | undefined
  const figure = (name: string, read: (measured: BesideExports) => number): Contender => {
    const measure = async () => {
      run ??= measureBesideExports(klines(['serve', '--port', '0', '--json', '--mirror', slice]))
      const measured = await run
      return { value: read(measured), detail: { ...measured } }
    }
    return { name, maxRuns: 1, measure }
  }
  return [
    {
      title: 'symbols.json beside 50 clients that export, p99',
      unit: 'ms',
      contenders: [figure('klines', one => one.smallP99Ms), figure('its p50', one => one.smallP50Ms)],
      targets: [{ below: 100 }],
    },
    {
      title: 'the exports of these clients, p99',
      unit: 'ms',
      contenders: [figure('klines', one => one.exportP99Ms), figure('their p50', one => one.exportP50Ms)],
      targets: [{ peer: 'their p50', below: 4 }],
    },
    {
      title: 'memory of that server',
      unit: 'MB',
      contenders: [figure('klines', one => one.peakMb)],
      targets: [],
    },
  ]
}

/** Each run has a new server, which thus has no cache of earlier runs. Each path once and a first second are not counted. */
function warm(workspace: Workspace, paths: readonly string[]): Row['contenders'] {
  const files = paths.map(path => workspace.slice + path)
  return contenders(workspace, async ({ url }) => {
    await fetchAll(url, workspace.slice, files)
    const requests = { url, paths, script: workspace.path('requests.lua') }
    await runWrk(requests, 1)
    return await runWrk(requests)
  })
}

function contenders(workspace: Workspace, use: (server: ServedTree) => Promise<Measured>): Row['contenders'] {
  const list = SERVERS.map(([name, start, program]): Contender => {
    const measure = async () => {
      const server = await start(workspace)
      try {
        return await use(server)
      } finally {
        await server.end()
      }
    }
    return { name, program, measure }
  })
  return list as [Contender, ...Contender[]]
}
