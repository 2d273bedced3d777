import { startNginx } from '../nginx.js'
import type { Contender, Measured, Row } from '../row.js'
import { fetchAll, type ServedTree, startServed } from '../served-tree.js'
import { seriesFiles } from '../window-lists.js'
import { klines, peer, type Workspace } from '../workspace.js'
import { runWrk } from '../wrk.js'

const WINDOW = '/api/klines/30m/BTCUSDT/2025-05-05.json'
const COLD_FILES = 500

type Start = (workspace: Workspace) => Promise<ServedTree>

const SERVERS: readonly [name: string, start: Start, program?: string][] = [
  ['klines', ({ slice }) => startServed(klines(['serve', '--port', '0', '--json', '--mirror', slice]))],
  ['nginx', startPlainNginx, 'nginx'],
  ['sirv', ({ slice }) => startServed(peer('serve-sirv.mjs', slice))],
  ['@fastify/static', ({ slice }) => startServed(peer('serve-fastify-static.mjs', slice))],
]

/** Servers of the slice: one file repeatedly, small and large, and many files once right after the start. */
export function serveRows(workspace: Workspace): Row[] {
  const all = seriesFiles(workspace.slice).flatMap(({ files }) => files)
  // Spread over all series, long and short ones.
  const files = Array.from({ length: COLD_FILES }, (_, index) => all[Math.floor((index * all.length) / COLD_FILES)])
  return [
    {
      title: 'serve symbols.json, warm',
      unit: 'requests/s',
      contenders: warm(workspace, '/api/klines/symbols.json'),
      targets: [],
    },
    { title: 'serve a window of 117 KB, warm', unit: 'requests/s', contenders: warm(workspace, WINDOW), targets: [] },
    {
      title: `serve ${COLD_FILES} windows once, cold`,
      unit: 'files/s',
      contenders: contenders(workspace, server => fetchAll(server.url, workspace.slice, files)),
      targets: [],
    },
  ]
}

/** Each run has a new server, which thus has no cache of earlier runs; its first second is not counted. */
function warm(workspace: Workspace, path: string): Row['contenders'] {
  return contenders(workspace, async ({ url }) => {
    await runWrk(url + path, 1)
    return await runWrk(url + path)
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

/** Debian's settings with one worker but without a log, which the other servers do not write either. */
async function startPlainNginx(workspace: Workspace): Promise<ServedTree> {
  return await startNginx(workspace, { log: false })
}
