import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expectedSeries } from '../../support/oracles/real-tree.js'
import { startLatencyProxy } from '../latency-proxy.js'
import { startNginx } from '../nginx.js'
import type { Contender, Row } from '../row.js'
import type { Target } from '../target.js'
import { timeRun } from '../timed-run.js'
import { listedPaths, SYMBOLS } from '../window-lists.js'
import { klines, type Workspace } from '../workspace.js'

const LATENCY_MS = 30

/** A download of all 1h windows into an empty mirror, from nginx on the loopback. */
export async function coldRows(workspace: Workspace): Promise<Row[]> {
  const { url } = await startNginx(workspace)
  const targets = [
    { peer: 'curl', most: 3 },
    { peer: 'aria2c', below: 1 },
  ]
  return [downloadRow(workspace, url, 'cold download of 1h, with CSV', false, targets)]
}

/** The same with latency, without and with gzip. */
export async function latencyRows(workspace: Workspace): Promise<Row[]> {
  const rows: Row[] = []
  for (const gzip of [false, true]) {
    const { port } = await startNginx(workspace, { gzip })
    const url = await startLatencyProxy(workspace, port, LATENCY_MS)
    const title = `cold download of 1h, with CSV, ${LATENCY_MS} ms away${gzip ? ', gzip' : ''}`
    const row = downloadRow(workspace, url, title, gzip, [{ peer: 'curl', most: 0.5 }])
    rows.push({ ...row, isHeadline: !gzip })
  }
  return rows
}

/**
 * klines requests the windows that can contain candles, stores them in a new mirror and writes a CSV file. The peers download
 * every listed window, including future ones (`[]`), since no list tells them which contain candles.
 */
function downloadRow(workspace: Workspace, url: string, title: string, gzip: boolean, targets: readonly Target[]): Row {
  const paths = listedPaths(workspace.slice, '1h')
  const id = new URL(url).port
  const lists = { curl: workspace.path(`curl-${id}.txt`), aria2c: workspace.path(`aria2c-${id}.txt`) }
  const fileName = (path: string) => path.split('/').slice(-2).join('-')
  writeFileSync(lists.curl, paths.map(path => `url = "${url}${path}"\noutput = "${fileName(path)}"\n`).join(''))
  writeFileSync(lists.aria2c, paths.map(path => `${url}${path}\n  out=${fileName(path)}\n`).join(''))

  const peer = (name: 'curl' | 'aria2c', ...args: string[]): Contender => ({
    name,
    program: name,
    measure: () => {
      const folder = workspace.fresh(name)
      mkdirSync(folder)
      return timeRun({ program: name, args, folder })
    },
    check: () => {
      const wrong = paths.filter(
        path => fileSize(`${workspace.path(name)}/${fileName(path)}`) !== fileSize(workspace.slice + path),
      )
      if (wrong.length > 0) throw new Error(`${name} did not download ${wrong.length} of ${paths.length} windows`)
    },
  })
  const ours: Contender = {
    name: 'klines',
    measure: () => timeRun(klines(downloadArgs(url, workspace.fresh('mirror'), '-o', workspace.fresh('cold.csv')))),
    check: () => {
      const expected = SYMBOLS.reduce((sum, symbol) => sum + expectedSeries()[symbol]['1h'].rows, 0)
      const rows = readFileSync(workspace.path('cold.csv'), 'utf8').trimEnd().split('\n').length - 1
      if (rows !== expected) throw new Error(`The CSV has ${rows} candles, not ${expected}`)
    },
  }
  // `--disable` must come first: it makes curl ignore the user's settings.
  const curl = ['--disable', '--silent', '--show-error', '--fail', '--parallel', '--parallel-max', '16']
  const aria2c = ['--no-conf', '--quiet', '--max-concurrent-downloads=16', '--split=1', '--file-allocation=none']
  return {
    title,
    unit: 'ms',
    contenders: [
      ours,
      peer('curl', ...curl, ...(gzip ? ['--compressed'] : []), '--config', lists.curl),
      peer('aria2c', ...aria2c, `--http-accept-gzip=${gzip}`, `--input-file=${lists.aria2c}`),
    ],
    targets,
  }
}

/** Arguments of a download of the slice's 1h series into a mirror. */
function downloadArgs(url: string, mirror: string, ...more: string[]): string[] {
  return ['download', ...SYMBOLS, '-i', '1h', '--base-url', url, '--mirror', mirror, '-q', ...more]
}

function fileSize(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}
