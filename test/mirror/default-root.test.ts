import { describe, expect, it, onTestFinished } from 'vitest'
import { defaultMirrorRoot } from '../../src/mirror/user-mirrors.js'
import { thrownBy } from '../support/thrown-by.js'

/** Sets variables for the rest of the test. */
function setVariables(variables: Record<string, string>): void {
  const original = { ...process.env }
  Object.assign(process.env, variables)
  onTestFinished(() => {
    for (const name of Object.keys(variables)) {
      if (original[name] === undefined) delete process.env[name]
      else process.env[name] = original[name]
    }
  })
}

function setCacheHome(folder: string): void {
  setVariables({ XDG_CACHE_HOME: folder })
}

describe.runIf(process.platform === 'linux')('the default mirror (Linux only)', () => {
  it.each([
    ['https://finom.github.io/static-klines', '/cache/klines/finom.github.io_static-klines'],
    ['http://127.0.0.1:8787', '/cache/klines/http_127.0.0.1_8787'],
    ['http://[::1]:80/x', '/cache/klines/http_1_80_x'],
  ])('of %s is %s', (baseUrl, expected) => {
    setCacheHome('/cache')
    expect(defaultMirrorRoot(baseUrl)).toBe(expected)
  })

  it.each(['', 'relative'])('is below HOME with XDG_CACHE_HOME=%s', XDG_CACHE_HOME => {
    setVariables({ HOME: '/home/of-test', XDG_CACHE_HOME })
    expect(defaultMirrorRoot('https://example.com/a')).toBe('/home/of-test/.cache/klines/example.com_a')
  })

  it('needs a home folder', () => {
    setVariables({ HOME: '/nonexistent', XDG_CACHE_HOME: '' })
    expect(thrownBy(() => defaultMirrorRoot('https://example.com/a'))).toMatchObject({ code: 'bad_option' })
    setVariables({ XDG_CACHE_HOME: '/cache' })
    expect(defaultMirrorRoot('https://example.com/a')).toBe('/cache/klines/example.com_a')
  })

  it('is one folder below the cache folder for every address', () => {
    setCacheHome('/cache')
    for (const address of ['https://example.com/../../etc', 'https://..', 'http://a/%2e%2e/%2f']) {
      expect(defaultMirrorRoot(address)).toMatch(/^\/cache\/klines\/[A-Za-z0-9._-]+$/)
    }
  })
})
