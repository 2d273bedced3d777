import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach } from 'vitest'

// Properties have the same cases each time.
fc.configureGlobal({ seed: 20_250_212 })

/**
 * Gives each test file a cache folder of its own, and each test one without bans of hosts: they are remembered by host and port, and
 * the next server may get the same port. The environment of this machine's user is left alone.
 */
const before = process.env.XDG_CACHE_HOME
const folder = mkdtempSync(join(tmpdir(), 'klines-cache-'))
process.env.XDG_CACHE_HOME = folder

beforeEach(() => rmSync(join(folder, 'klines', '.bans'), { recursive: true, force: true }))

afterAll(() => {
  if (before === undefined) delete process.env.XDG_CACHE_HOME
  else process.env.XDG_CACHE_HOME = before
  rmSync(folder, { recursive: true, force: true })
})
