import { describe, expect, it } from 'vitest'
import { ALL_INTERVALS, SAMPLE_TREE } from '../../support/sample-tree.js'
import { parseErrorObject, startTestServer, useServerOver } from '../../support/servers/test-server.js'
import { makeTree, putFile } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const SWAGGER_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css']
const ASSETS = [...SWAGGER_FILES, 'page.js', 'page.css', 'favicon.svg'].map(name => `/docs/${name}`)
const [LATE_ASSET] = ASSETS

const sample = useServerOver(() => SAMPLE_TREE)

/** The HTML of the page over a tree. */
async function fetchPage(root: string): Promise<string> {
  const { request } = await startTestServer(root)
  const { status, body } = await request('/')
  expect(status).toBe(200)
  return String(body)
}

/** The synthetic tree with a `mirror.json` that names `baseUrl`. */
function makeMirror(baseUrl: string): string {
  const root = makeTree(tempFolder())
  putFile(root, 'mirror.json', { layout: 1, baseUrl })
  return root
}

const findLinks = (page: string) => [...page.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => target)

describe('the page at /', () => {
  it('is HTML whose policy allows only resources of this server', async () => {
    const { request } = sample
    const { status, headers, body } = await request('/', { headers: { accept: 'text/html' } })
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = String(headers['content-security-policy']).split('; ')
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]),
    )
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*/)
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
    const page = String(body)
    expect(page).toMatch(/^<!DOCTYPE html>\n<html lang="en">/)
    expect(page).toContain('<title>klines server</title>')
    expect(page).not.toMatch(/<script|<style|\sstyle=|\son\w+=|https?:\/\//)
  })

  it('has a row for each series, with links to its chart and exports that work', async () => {
    const { request } = sample
    const page = String((await request('/')).body)
    expect(page).toContain('<th scope="row">BTCUSDT</th><td>1h</td>')
    expect(page).toContain('2025-03-30 23:00')
    const links = findLinks(page)
    for (const interval of ALL_INTERVALS) {
      const series = [
        `chart/BTCUSDT/${interval}`,
        `export/${interval}/BTCUSDT.csv`,
        `export/${interval}/BTCUSDT.parquet`,
      ]
      expect(links).toEqual(expect.arrayContaining(series))
    }
    // All are relative: the server may be reached below a path of another one.
    for (const link of links) expect(link).not.toMatch(/^\/|:/)
    for (const link of links.filter(link => !link.startsWith('export/') || /\/1[dwM]\//.test(link)))
      expect((await request(`/${link}`, { method: 'HEAD' })).status, link).toBe(200)
  })

  it.each([
    ['the sample', () => SAMPLE_TREE, 'synthetic sample data'],
    [
      'a mirror',
      () => makeMirror('https://example.com/klines'),
      'A mirror of <code>https://example.com/klines</code>.',
    ],
    ['a tree without mirror.json', () => makeTree(tempFolder()), 'The source of these files is unknown'],
    ['a mirror that names a script', () => makeMirror('javascript:alert(1)'), 'The source of these files is unknown'],
  ])('of %s shows the origin of the candles, and no path of this machine', async (_, makeRoot, text) => {
    const root = makeRoot()
    const page = await fetchPage(root)
    expect(page).toContain(text)
    expect(page.match(/synthetic sample data|A mirror of|source of these files is unknown/g)).toHaveLength(1)
    for (const secret of [root, '/home/somebody', 'javascript:', process.cwd()]) expect(page).not.toContain(secret)
  })

  it.each([
    ['the exchange', 'binance', ' --base-url binance --mirror FOLDER'],
    [
      'an address that a shell would read',
      'https://example.com/$(id)',
      ' --base-url &#39;https://example.com/$(id)&#39; --mirror FOLDER',
    ],
    ['a folder', '/home/somebody/tree', ' --mirror FOLDER'],
  ])(
    'of an empty mirror of %s has the command that fills it, without a path of this machine',
    async (_, baseUrl, flags) => {
      const root = tempFolder()
      putFile(root, 'mirror.json', { layout: 1, baseUrl })
      const page = await fetchPage(root)
      expect(page).toContain(`<code>klines download BTCUSDT -i 1h${flags}</code>`)
      for (const secret of [root, '/home/somebody']) expect(page).not.toContain(secret)
      expect(await fetchPage(SAMPLE_TREE)).not.toContain('This mirror is empty')
    },
  )

  it('has a badge of sample data, as charts have, and not over candles of a service', async () => {
    const root = makeMirror('https://klines.example')
    const { request } = await startTestServer(root)
    for (const path of ['/', '/chart', '/chart/BTCUSDT/1h']) {
      expect(String((await sample.request(path)).body), path).toContain('Sample data, not prices')
      expect(String((await request(path)).body), path).not.toContain('Sample data, not prices')
    }
  })

  it('escapes the base address of a mirror', async () => {
    const page = await fetchPage(makeMirror("https://example.com/a&b'c&amp;"))
    expect(page).toContain('<code>https://example.com/a&#38;b&#39;c&#38;amp;</code>')
    // This is no address, so it is not shown at all.
    const other = await fetchPage(makeMirror(`https://example.com/"'><script>alert('1')</script>&amp;`))
    expect(other).not.toContain('alert')
  })
})

describe('the page at /reference', () => {
  it('links to all documents, and loads what draws them', async () => {
    const { request } = sample
    const links = findLinks(String((await request('/reference')).body))
    const documents = ['api/openapi.json', 'export/openapi.json', 'api/static/openapi.json']
    expect(links).toEqual(expect.arrayContaining([...documents, ...ASSETS.slice(1).map(path => path.slice(1))]))
    // The script loads it when a reference is opened.
    expect(links).not.toContain(LATE_ASSET.slice(1))
    for (const link of links) {
      const { pathname } = new URL(link, 'http://localhost/reference')
      expect((await request(pathname, { method: 'HEAD' })).status, link).toBe(200)
    }
  })
})

describe('the files of the page', () => {
  it.each([
    ['/docs/page.js', 'text/javascript; charset=utf-8'],
    ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ['/docs/page.css', 'text/css; charset=utf-8'],
    ['/docs/favicon.svg', 'image/svg+xml'],
  ])('%s is %s for any Accept', async (path, type) => {
    const { request } = sample
    for (const accept of ['*/*', type, 'text/css,*/*;q=0.1', 'image/png']) {
      const { status, headers } = await request(path, { headers: { accept } })
      expect([status, headers['content-type'], headers['x-content-type-options']]).toEqual([200, type, 'nosniff'])
    }
  })

  it.each(['/docs', '/docs/constructor', '/docs/../package.json', '/docs/%2e%2e/package.json', '/favicon.ico'])(
    '%s is 404',
    async path => {
      const { request } = sample
      const answer = await request(path, { headers: { accept: 'text/html' } })
      expect(answer.status).toBe(404)
      expect(parseErrorObject(answer)).toEqual({ statusCode: 404, message: expect.any(String), isError: true })
    },
  )
})
