import { type Nginx, startNginx } from '../nginx.js'
import type { Row } from '../row.js'
import { timeRun } from '../timed-run.js'
import { klines, type Workspace } from '../workspace.js'
import { downloadArgs } from './download.js'
import { emptyNode } from './start.js'

/** The end of a range in which every window of the slice is final. */
const FINAL_BEFORE = '2026-04'

/** A repeated download, when the mirror has every window. */
export async function rerunRows(workspace: Workspace): Promise<Row[]> {
  const nginx = await startNginx(workspace)
  const rerun = klines(downloadArgs(nginx.url, workspace.path('mirror'), '--to', FINAL_BEFORE))
  await timeRun(rerun)
  if ((await requests(nginx)).windows === 0) throw new Error('No request is counted for the first download')
  return [
    {
      title: 'the same again, all final',
      unit: 'ms',
      runsPerRound: 4,
      contenders: [{ name: 'klines', measure: () => timeRun(rerun) }, emptyNode],
      targets: [{ peer: emptyNode.name, most: 3, plus: 50 }],
    },
    {
      title: 'its requests for windows',
      unit: 'requests',
      contenders: [
        {
          name: 'klines',
          measure: async () => {
            nginx.takePaths()
            await timeRun(rerun)
            const { windows, lists } = await requests(nginx)
            return { value: windows, detail: { lists } }
          },
        },
      ],
      targets: [{ most: 0 }],
    },
  ]
}

/** Counts the requests for windows and for lists since the last call. */
async function requests(nginx: Nginx): Promise<{ windows: number; lists: number }> {
  // nginx logs a request after the response, which may be after the client has read it.
  await new Promise(resolve => setTimeout(resolve, 100))
  const paths = nginx.takePaths()
  const windows = paths.filter(path => path.startsWith('/api/klines/1h/')).length
  return { windows, lists: paths.length - windows }
}
