import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { windowPath } from '../../src/klines/paths.js'
import { cases } from '../support/cases.js'
import { startTestServer } from '../support/servers/test-server.js'
import { tempFolder } from '../support/temp-folder.js'

const DAY = 86_400_000
const FIRST = Date.UTC(2018, 0, 1)
const DAYS = 3_000
const SYMBOLS = Array.from({ length: cases(30, 7) }, (_, index) => `S${String(index).padStart(3, '0')}USDT`)
/** CPU time of the longest turn of the server, for which another request waits, ms: some 45 were measured, 2,700 for one walk through 300,000 files. */
const LONGEST_TURN_MS = 200

const pathOf = (symbol: string, day: number) =>
  windowPath({ symbol, interval: '1m', startDate: new Date(FIRST + day * DAY).toISOString().slice(0, 10) })

/** A mirror of the exchange with very many windows of 1m, all empty. */
function makeMinutes(): string {
  const root = tempFolder()
  writeFileSync(join(root, 'mirror.json'), JSON.stringify({ layout: 2, baseUrl: 'binance' }))
  for (const symbol of SYMBOLS) {
    mkdirSync(join(root, dirname(pathOf(symbol, 0))), { recursive: true })
    for (let day = 0; day < DAYS; day++) writeFileSync(join(root, pathOf(symbol, day)), '[]')
  }
  return root
}

it(`F82 the start page of ${SYMBOLS.length * DAYS} files that change holds up no other request`, async () => {
  const root = makeMinutes()
  const { request } = await startTestServer(root, { now: () => FIRST + DAYS * DAY })
  let [isOver, turns, longest] = [false, 0, 0]
  const watch = async () => {
    while (!isOver) {
      const before = process.cpuUsage()
      await nextTurn()
      const { user, system } = process.cpuUsage(before)
      longest = Math.max(longest, (user + system) / 1_000)
      turns++
    }
  }
  const change = async () => {
    for (let day = 0; !isOver; day = (day + 1) % DAYS) {
      writeFileSync(join(root, pathOf(SYMBOLS[0], day)), '[]')
      expect((await request(pathOf(SYMBOLS[0], day))).status).toBe(200)
    }
  }
  const open = async () => {
    for (;;) {
      const { status, body } = await request('/')
      expect(status).toBe(200)
      if (String(body).includes('id="coverage"')) return
    }
  }
  const others = [watch(), change()]
  await Promise.all(Array.from({ length: 20 }, open))
  isOver = true
  await Promise.all(others)
  expect(turns).toBeGreaterThan(SYMBOLS.length)
  expect(longest).toBeLessThan(LONGEST_TURN_MS)
})
