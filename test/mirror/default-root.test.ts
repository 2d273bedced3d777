import { describe, expect, it, onTestFinished } from 'vitest'
import { defaultMirrorRoot } from '../../src/mirror/default-root.js'

/** Sets XDG_CACHE_HOME for the rest of the test. */
function setCacheHome(folder: string): void {
  const original = process.env.XDG_CACHE_HOME
  process.env.XDG_CACHE_HOME = folder
  onTestFinished(() => {
    if (original === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = original
  })
}

describe.runIf(process.platform === 'linux')('the default mirror (Linux only)', () => {
  it.each([
    ['https://finom.github.io/static-klines', '/cache/klines/finom.github.io_static-klines'],
    ['http://127.0.0.1:8787', '/cache/klines/http_127.0.0.1_8787'],
    ['https://example.com/a/b', '/cache/klines/example.com_a_b'],
    ['http://[::1]:80/x', '/cache/klines/http_1_80_x'],
  ])('of %s is %s', (baseUrl, expected) => {
    setCacheHome('/cache')
    expect(defaultMirrorRoot(baseUrl)).toBe(expected)
  })

  it('is one folder below the cache folder for every address', () => {
    setCacheHome('/cache')
    for (const address of ['https://example.com/../../etc', 'https://..', 'http://a/%2e%2e/%2f']) {
      expect(defaultMirrorRoot(address)).toMatch(/^\/cache\/klines\/[A-Za-z0-9._-]+$/)
    }
  })
})
