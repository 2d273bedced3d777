import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { datesBetween } from '../support/archive/archive-setup.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { ArchiveServer } from '../support/servers/archive-server.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'

const DAY = 86_400_000
const [FROM, TO] = ['2026-03-22', '2026-04-06']
const MARKET = madeMarket({ TICKUSDT: { from: FROM, until: TO, minutes: 1 } })
const newSandbox = useSandboxes()

async function setup() {
  const [exchange, archive] = [await ExchangeServer.start(MARKET), await ArchiveServer.start(MARKET, EXCHANGE_NOW)]
  const place = `--base-url binance:${exchange.url} --archive-url ${archive.url} --mirror m`
  const command = `download TICKUSDT -i 5m --from ${FROM} --to ${TO} ${place}`
  const sandbox = newSandbox()
  sandbox.now = EXCHANGE_NOW
  return { exchange, archive, command, sandbox }
}

/** The days that are stored; each must be whole. */
function storedDays(sandbox: CliSandbox): string[] {
  const folder = sandbox.path('m/api/klines/5m/TICKUSDT')
  const names = existsSync(folder) ? readdirSync(folder) : []
  const rows = MARKET.rows('TICKUSDT', '5m') as readonly KlineRow[]
  return names.sort().map(name => {
    const start = Date.parse(name.slice(0, 10))
    const ofDay = rows.filter(([time]) => time >= start && time < start + DAY)
    expect(readFileSync(`${folder}/${name}`, 'utf8')).toBe(JSON.stringify(ofDay))
    return name.slice(0, 10)
  })
}

it('the summary says what came from the archive, and why other days did not: a line a kind of reason, with -v a day', async () => {
  const { archive, command, sandbox } = await setup()
  archive.zips.set('TICKUSDT-5m-2026-04-03', undefined)
  // A day without rows, one without its last row, and two that are wrong in other rows.
  archive.edits.set('TICKUSDT-5m-2026-03', lines =>
    lines.slice(288, -1).flatMap((line, index) => (index === 300 || index === 900 ? `${line},` : line)),
  )
  const plan = await sandbox.call([...command.split(' '), '--dry-run'])
  expect(plan.stdout).toContain('The run takes about 10 requests to the exchange.')
  const { code, stdout } = await sandbox.call(command.split(' '))
  expect(code).toBe(0)
  const lines = (second: string) => `
10 windows came from the archive of the exchange, checked by its 1h candles.
Not from the archive: TICKUSDT 5m 2026-03-22: the zip has no row of it.
Not from the archive: ${second}
Not from the archive: TICKUSDT 5m 2026-03-31: no whole candle opens at 2026-03-31 23:55 UTC.
Not from the archive: TICKUSDT 5m 2026-04-03: the archive has no zip of it.
`
  const days = [12, 36].map(
    (row, day) => `TICKUSDT 5m 2026-03-2${4 + 2 * day}: row ${row}: expected 12 elements, got 0.`,
  )
  expect(stdout).toContain(lines(`2 windows (-v lists them), first ${days[0]}`))
  const verbose = await sandbox.call([...command.replace('--mirror m', '--mirror v').split(' '), '-v'])
  expect(verbose.stdout).toContain(lines(days.join('\nNot from the archive: ')))
  expect(storedDays(sandbox)).toEqual(datesBetween(FROM, TO))
})

it('F42 kill -9 leaves whole days of a month, and the next run goes on', async () => {
  const { archive, command, sandbox } = await setup()
  const rename = { call: 'renameSync', at: 12, path: 'm/.klines-tmp', code: 'SIGKILL' }
  expect(await sandbox.runFailing(command.split(' '), [rename])).toMatchObject({ signal: 'SIGKILL' })
  expect(storedDays(sandbox).length).toBeGreaterThanOrEqual(8)
  archive.reset()
  expect(await sandbox.call(command.split(' '))).toMatchObject({ code: 0, stderr: '' })
  expect(storedDays(sandbox)).toEqual(datesBetween(FROM, TO))
  expect(archive.names).not.toContain('TICKUSDT-5m-2026-03')
})

const hasNamespaces = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0

it('F43 a full disk stops in the middle of a month, and the next run goes on', async ({ skip }) => {
  if (!hasNamespaces) skip('needs unshare -rm and tmpfs')
  const { command, sandbox } = await setup()
  const script = `mkdir m && mount -t tmpfs -o size=400k none m && klines ${command}; echo $?; cp -a m before`
  const run = await sandbox.shell(`unshare -rm bash -c '${script}'`)
  expect(run.stdout).toBe('3\n')
  expect(run.stderr).toMatch(/^klines: Cannot write (\S+\.json of )?the mirror m: the disk is full \(ENOSPC\)\.$/m)
  rmSync(sandbox.path('m'), { recursive: true })
  renameSync(sandbox.path('before'), sandbox.path('m'))
  const before = storedDays(sandbox).length
  expect(before).toBeGreaterThan(3)
  expect(before).toBeLessThan(15)
  expect(await sandbox.call(command.split(' '))).toMatchObject({ code: 0, stderr: '' })
  expect(storedDays(sandbox)).toEqual(datesBetween(FROM, TO))
})
