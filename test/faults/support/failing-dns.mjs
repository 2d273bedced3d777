// Preload: the first KLINES_TEST_DNS.times look-ups of a name fail with KLINES_TEST_DNS.code; the others return 127.0.0.1.
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { code, times, log } = JSON.parse(process.env.KLINES_TEST_DNS)
let lookUps = 0

dns.lookup = (host, options, callback) => {
  appendFileSync(log, `${host}\n`)
  const error = Object.assign(new Error(`getaddrinfo ${code} ${host}`), {
    code,
    syscall: 'getaddrinfo',
    hostname: host,
  })
  if (lookUps++ < (times ?? Number.POSITIVE_INFINITY)) process.nextTick(callback, error)
  else if (options.all) process.nextTick(callback, null, [{ address: '127.0.0.1', family: 4 }])
  else process.nextTick(callback, null, '127.0.0.1', 4)
}
syncBuiltinESMExports()
