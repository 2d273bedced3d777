// Takes the lock of each lake that the arguments name, as a run does, and keeps it until the file `stop` is there. Begins when `go` is
// there, and writes `NAME.done` then: a JSON list of `taken`, or the code of the error. Time passes as fast as something happens: a lock of
// KLINES_TEST_DEAD is waited for without waiting, any other one until it is renewed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemProcesses } from '../../../dist/fs/process-identity.js'
import { LakeLock } from '../../../dist/lake/lock/lake-lock.js'

const RENEW_MS = 5000
const [name, ...lakes] = process.argv.slice(2)
const dead = process.env.KLINES_TEST_DEAD

async function until(condition) {
  while (!condition()) await sleep(1)
}

function read(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

function clockOf(lake) {
  const path = join(lake, '_lock')
  const wait = async (ms, signal) => {
    signal?.throwIfAborted()
    if (ms === RENEW_MS) return sleep(5, undefined, { signal })
    const text = read(path)
    if (dead === undefined || !text.includes(dead)) await until(() => read(path) !== text)
  }
  return { now: Date.now, elapsed: Date.now, sleep: wait }
}

await until(() => existsSync('go'))
const results = []
for (const lake of lakes) {
  try {
    await LakeLock.acquire(lake, {}, { clock: clockOf(lake), processes: systemProcesses() })
    results.push('taken')
  } catch (error) {
    results.push(error.code)
  }
}
writeFileSync(`${name}.json`, JSON.stringify({ pid: process.pid, results }))
writeFileSync(`${name}.done`, '')
await until(() => existsSync('stop'))
process.exit()
