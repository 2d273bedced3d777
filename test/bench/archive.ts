// Years of 1m candles from an exchange and its archive on this machine, by REST and by the archive, near and 30 ms away:
//   npx tsx test/bench/archive.ts [YEARS]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { longMarket } from '../support/archive/long-market.js'
import { ArchiveServer } from '../support/servers/archive-server.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { startLatencyProxy } from './latency-proxy.js'
import { runProgram } from './timed-run.js'
import { Workspace } from './workspace.js'

const BIN = fileURLToPath(new URL('../../bin/run.js', import.meta.url))
/** Says at the end how much memory the program had, kB. */
const MEMORY =
  '--import=data:text/javascript,process.on("exit",()=>process.stderr.write("maxrss="+process.resourceUsage().maxRSS))'

async function main(years: number): Promise<void> {
  const today = new Date(Date.now() - (Date.now() % 86_400_000))
  const from = Date.UTC(today.getUTCFullYear() - years, today.getUTCMonth(), today.getUTCDate())
  const market = longMarket('BTCUSDT', from, Date.now())
  const [exchange, archive] = [await ExchangeServer.open(market), await ArchiveServer.open(market, Date.now())]
  exchange.now = () => Date.now()
  for (let month = new Date(from); month < today; month.setUTCMonth(month.getUTCMonth() + 1, 1))
    addZips(archive, month.toISOString().slice(0, 7))
  const workspace = new Workspace()
  try {
    console.log('  way      distance  requests      weight   seconds  memory MB  windows of the archive')
    for (const distance of [0, 30]) {
      const [baseUrl, archiveUrl] = await Promise.all(
        [exchange, archive].map(({ url }) => {
          return distance === 0 ? url : startLatencyProxy(workspace, Number(new URL(url).port), distance)
        }),
      )
      for (const way of ['archive', 'REST']) {
        exchange.reset()
        archive.reset()
        const folder = mkdtempSync(join(tmpdir(), 'klines-bench-'))
        const args = ['download', 'BTCUSDT', '-i', '1m', '--base-url', `binance:${baseUrl}`, '--mirror', folder]
        const how = way === 'REST' ? ['--no-archive'] : ['--archive-url', archiveUrl]
        const started = performance.now()
        const { stdout, stderr } = await runProgram({
          program: process.execPath,
          args: [MEMORY, BIN, ...args, ...how, '--json'],
          env: { XDG_CACHE_HOME: folder },
        })
        const seconds = ((performance.now() - started) / 1000).toFixed(1)
        const memory = (Number(/maxrss=(\d+)/.exec(stderr)?.[1]) / 1024).toFixed(0)
        const report = JSON.parse(stdout)
        const weight = [...exchange.weights.values()].reduce((sum, one) => sum + one, 0)
        const windows = report.archive?.windows ?? 0
        const numbers = [`${distance} ms`, report.requests, weight, seconds, memory, windows]
        console.log([way.padEnd(9), ...numbers].map(text => String(text).padStart(10)).join(' '))
        rmSync(folder, { recursive: true })
      }
    }
  } finally {
    await workspace.end()
    await Promise.all([exchange.stop(), archive.stop()])
  }
}

/** Makes the zips of a month before time is taken: that of the month, or those of its days. */
function addZips(archive: ArchiveServer, month: string): void {
  const days = Array.from({ length: 31 }, (_, day) => `${month}-${String(day + 1).padStart(2, '0')}`)
  const name = (date: string) => `BTCUSDT-1m-${date}`
  const zip = archive.findZip(`data/spot/monthly/klines/BTCUSDT/1m/${name(month)}.zip`)
  archive.zips.set(name(month), zip)
  for (const day of zip ? [] : days)
    archive.zips.set(name(day), archive.findZip(`data/spot/daily/klines/BTCUSDT/1m/${name(day)}.zip`))
}

await main(Number(process.argv[2] ?? 8))
