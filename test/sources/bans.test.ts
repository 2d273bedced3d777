import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { banFile, bannedUntil, rememberBan } from '../../src/sources/bans.js'
import { tempFolder } from '../support/temp-folder.js'

const [MINUTE, HOUR] = [60_000, 3_600_000]
const NOW = Date.UTC(2025, 1, 12, 12)
const HOST = 'https://one.example'

beforeEach(() => {
  const { XDG_CACHE_HOME } = process.env
  process.env.XDG_CACHE_HOME = tempFolder()
  onTestFinished(() => {
    process.env.XDG_CACHE_HOME = XDG_CACHE_HOME
  })
})

describe('the file of bans', () => {
  it('has each host with its time, and is written whole', () => {
    rememberBan(HOST, NOW + HOUR)
    rememberBan('http://127.0.0.1:8080', NOW + MINUTE)
    expect(bannedUntil(HOST, NOW)).toBe(NOW + HOUR)
    expect(bannedUntil('http://127.0.0.1:8080', NOW)).toBe(NOW + MINUTE)
    expect(bannedUntil('http://127.0.0.1:8081', NOW)).toBeUndefined()
    expect(bannedUntil(HOST, NOW + HOUR)).toBeUndefined()
    expect(readdirSync(dirname(banFile() as string))).toEqual(['bans.json'])
    expect(JSON.parse(readFileSync(banFile() as string, 'utf8'))).toEqual({
      [HOST]: '2025-02-12T13:00:00.000Z',
      'http://127.0.0.1:8080': '2025-02-12T12:01:00.000Z',
    })
  })

  it.each([
    ['no JSON', '{"'],
    ['a time that is none', JSON.stringify({ [HOST]: 'tomorrow' })],
    ['a time that has passed', JSON.stringify({ [HOST]: new Date(NOW).toISOString() })],
  ])('is not believed blindly: %s', (_, text) => {
    const path = banFile() as string
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    expect(bannedUntil(HOST, NOW)).toBeUndefined()
    rememberBan(HOST, NOW + HOUR)
    expect(bannedUntil(HOST, NOW)).toBe(NOW + HOUR)
  })
})
