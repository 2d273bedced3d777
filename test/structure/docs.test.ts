import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROJECT } from '../support/cli/cli-sandbox.js'
import { filesBelow } from '../support/files-below.js'

const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8')
const linesOf = (text: string) => text.trimEnd().split('\n')
const README = read('README.md')
const docs = filesBelow(join(PROJECT, 'src/docs')).map(name => `src/docs/${name}`)
const pages = ['README.md', ...docs.filter(name => name.endsWith('.md'))]
const { files } = JSON.parse(read('package.json')) as { files: string[] }
/** The most lines of a page, where they are not 80. */
const LENGTHS: Readonly<Record<string, number>> = { 'src/docs/reference.md': 330, 'src/docs/library.md': 190 }
/** What npm packs besides: https://docs.npmjs.com/cli/commands/npm-pack names these files. */
const isPacked = (path: string) =>
  ['README.md', 'LICENSE', 'package.json', ...files].some(entry => path === entry || path.startsWith(`${entry}/`))

/** The anchors of a page, as Git hosts make them of headings. */
const anchorsOf = (path: string) =>
  [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )

/** The relative links and pictures of a page, from the project's folder. Code has none. */
function linksOf(path: string): { file: string; anchor: string }[] {
  const text = read(path).replaceAll(/^```[\s\S]*?^```$/gm, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => {
    const [file, anchor = ''] = link.split('#')
    return { file: file === '' ? path : posix.join(posix.dirname(path), file), anchor }
  })
}

describe('the README', () => {
  it('has at most 120 lines and 1,200 words, and no line above 130 characters', () => {
    expect(linesOf(README).length).toBeLessThanOrEqual(120)
    expect(README.split(/\s+/).filter(word => word !== '').length).toBeLessThanOrEqual(1200)
    expect(linesOf(README).filter(line => line.length > 130)).toEqual([])
  })
})

describe('the documents of the package', () => {
  it.each(pages)('%s has no link or picture that leads out of the package or nowhere', path => {
    for (const { file, anchor } of linksOf(path)) {
      expect(isPacked(file) && existsSync(join(PROJECT, file)), file).toBe(true)
      if (anchor) expect(anchorsOf(file)).toContain(anchor)
    }
  })

  it('have links to each of them, and show each picture', () => {
    const linked = new Set(pages.flatMap(linksOf).map(({ file }) => file))
    expect(docs.filter(path => !linked.has(path))).toEqual([])
  })

  it.each(pages.filter(path => path !== 'README.md'))('%s is short, and its lines are too', path => {
    expect(linesOf(read(path)).length).toBeLessThanOrEqual(LENGTHS[path] ?? 80)
    const lines = linesOf(read(path)).filter(line => !line.startsWith('|'))
    expect(lines.filter(line => line.length > 140)).toEqual([])
  })
})

describe('the library', () => {
  const entries = ['src/index.ts', 'src/greeting.ts']
  const exported = entries.flatMap(entry =>
    [...read(entry).matchAll(/export (?:type )?\{([^}]*)\} from '(.*)\.js'/g)].flatMap(([, names, path]) =>
      names
        .split(',')
        .map(name => name.replace(/\btype\b/, '').trim())
        .filter(name => name !== '')
        .map(name => [name, posix.join('src', `${path}.ts`)] as const),
    ),
  )

  it.each(exported)('%s has a docstring', (name, file) => {
    const declaration = new RegExp(`\\*/\\nexport (async )?(function\\*?|const|class|interface|type) ${name}\\b`)
    expect(read(file), file).toMatch(declaration)
  })
})
