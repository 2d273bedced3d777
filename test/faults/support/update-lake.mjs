// Brings a lake up to date with the request in the argument, as `klines` does, but a minute of waiting for a lock takes no time.
// Prints what became of it as JSON.
import { systemProcesses } from '../../../dist/fs/process-identity.js'
import { systemClock } from '../../../dist/http/system-clock.js'
import { exportLake } from '../../../dist/lake/export-lake.js'

const POLL_MS = 1000
const warnings = []
let looks = 0
const clock = {
  ...systemClock,
  sleep: async (ms, signal) => (ms === POLL_MS ? void looks++ : systemClock.sleep(ms, signal)),
}
const onEvent = event => event.type === 'warning' && warnings.push(event.message)
const request = { ...JSON.parse(process.argv[2]), onEvent }
const result = await exportLake(request, { clock, processes: systemProcesses() }).then(
  ({ lake }) => ({ lake }),
  ({ code, message }) => ({ code, message }),
)
console.log(JSON.stringify({ ...result, looks, warnings, pid: process.pid }))
