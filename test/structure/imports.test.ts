import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  type Edge,
  filesOf,
  findCycle,
  findEdges,
  findImports,
  packagesLoadedBy,
  ROOT,
  sourceFiles,
} from '../support/imports.js'

/** A folder imports from itself and from lower layers, never from another folder of its own layer. */
const LAYERS: Record<string, number> = {
  'version.ts': 0,
  candles: 0,
  'rows/wasm': 1,
  rows: 2,
  fs: 3,
  options: 3,
  chart: 3,
  sources: 4,
  greeting: 5,
  mirror: 5,
  formats: 6,
  engine: 7,
  verify: 8,
  lake: 8,
  identity: 9,
  server: 10,
  'greeting.ts': 10,
  'index.ts': 11,
  cli: 12,
  'commands/reports': 13,
  commands: 14,
  'main.ts': 15,
}
const MAX_COMMAND_LINES = 120
const HEAVY = ['ajv', 'apache-arrow', 'hyparquet-writer']

const all = findEdges()
/** The room of a file; `rows/wasm` is a layer of its own. */
function partOf(file: string): string {
  const [, room, inner] = file.split('/')
  if (room === 'commands' && inner === 'reports') return 'commands/reports'
  return room === 'rows' && inner === 'wasm' ? 'rows/wasm' : room
}
const describeEdge = ({ from, specifier, kind }: Edge) => `${from} imports ${specifier} (${kind})`

function isAllowed({ from, target }: Edge): boolean {
  if (target === undefined) return true
  const [part, other] = [partOf(from), partOf(target)]
  return part === other || LAYERS[other] < LAYERS[part]
}

describe('imports are found in every form', () => {
  test('static, type and dynamic ones, and re-exports', () => {
    const text = `
      import a, { b } from './a.js'
      import type { C } from './c.js'
      import './d.js'
      export { e } from './e.js'
      export type * from './f.js'
      type G = import('./g.js').G
      const h = async () => (await import('./h.js')).h
      // import './comment.js'
      const text = "import './text.js'"
    `
    expect(findImports(text).map(({ specifier, kind }) => `${kind} ${specifier}`)).toEqual([
      'static ./a.js',
      'type ./c.js',
      'static ./d.js',
      'static ./e.js',
      'type ./f.js',
      'type ./g.js',
      'dynamic ./h.js',
    ])
  })

  test('in the sources too: one known edge of each kind', () => {
    expect(all.map(({ from, target, kind }) => `${kind} ${from} ${target}`)).toEqual(
      expect.arrayContaining([
        'static src/formats/text.ts src/formats/row-format.ts',
        'type src/formats/text.ts src/formats/exporter.ts',
        'dynamic src/formats/text.ts src/formats/parquet/parquet.ts',
      ]),
    )
  })

  test('a wrong direction is detected', () => {
    const edge = (from: string, target: string): Edge => ({ from, target, specifier: target, kind: 'type' })
    expect(isAllowed(edge('src/candles/a.ts', 'src/http/b.ts'))).toBe(false)
    expect(isAllowed(edge('src/sources/a.ts', 'src/mirror/b.ts'))).toBe(false)
    expect(isAllowed(edge('src/engine/output/a.ts', 'src/server/b.ts'))).toBe(false)
    expect(isAllowed(edge('src/index.ts', 'src/cli/b.ts'))).toBe(false)
    expect(isAllowed(edge('src/cli/a.ts', 'src/commands/b.ts'))).toBe(false)
    expect(isAllowed(edge('src/commands/a.ts', 'src/candles/b.ts'))).toBe(true)
  })
})

describe('imports go one way: main > commands > cli > server > identity > lake, verify > engine > formats > mirror > sources > rows > candles', () => {
  test('every folder of src has a layer', () => {
    expect(sourceFiles().filter(file => LAYERS[partOf(file)] === undefined)).toEqual([])
  })

  test('every relative import names a source file', () => {
    const files = new Set(sourceFiles())
    expect(all.filter(({ target }) => target !== undefined && !files.has(target)).map(describeEdge)).toEqual([])
  })

  test('no import goes up or sideways', () => {
    expect(all.filter(edge => !isAllowed(edge)).map(describeEdge)).toEqual([])
  })

  test('candles, rows and chart import no module of Node, but that of hashes', () => {
    const pure = ['candles', 'rows', 'rows/wasm', 'chart']
    const wrong = all.filter(
      ({ from, specifier }) => pure.includes(partOf(from)) && isBuiltin(specifier) && specifier !== 'node:crypto',
    )
    expect(wrong.map(describeEdge)).toEqual([])
  })

  test('the viewer loads pure rooms alone, and nobody imports it', () => {
    const isViewer = (file: string) => file.startsWith('src/server/viewer/')
    const viewer = sourceFiles().filter(isViewer)
    const rooms = new Set(
      viewer.flatMap(file => filesOf(all, file)).map(file => (isViewer(file) ? 'viewer' : partOf(file))),
    )
    // Not the kernel: it is 7 KB, and the viewer draws numbers.
    const pure = ['viewer', 'candles', 'rows', 'chart']
    expect([...rooms].filter(room => !pure.includes(room))).toEqual([])
    expect(rooms).toContain('rows')
    const packages = new Set(viewer.flatMap(file => packagesLoadedBy(all, file)))
    expect([...packages].sort()).toEqual([
      '@date-fns/utc/date/mini',
      'date-fns/sub',
      'fastest-levenshtein',
      'lightweight-charts',
      'lru-cache',
    ])
    expect(all.filter(({ from, target = '' }) => !isViewer(from) && isViewer(target)).map(describeEdge)).toEqual([])
  })

  test('no command imports another command', () => {
    const commands = all.filter(({ from }) => partOf(from) === 'commands' && from !== 'src/commands/index.ts')
    expect(commands.filter(({ target }) => target && partOf(target) === 'commands').map(describeEdge)).toEqual([])
  })

  test('index.ts only re-exports', () => {
    const text = readFileSync(join(ROOT, 'src/index.ts'), 'utf8')
    expect(text.replaceAll(/\/\*.*?\*\/|export (type )?\{[^}]*\} from '[^']*'/gs, '').trim()).toBe('')
  })
})

test('the library loads arrow and parquet only on demand', () => {
  const parquet = packagesLoadedBy(all, 'src/formats/parquet/parquet.ts')
  expect(parquet).toContain('hyparquet-writer/src/metadata.js')
  // Loading Arrow takes as long as writing 20,000 rows.
  expect(parquet).not.toContain('apache-arrow')
  expect(packagesLoadedBy(all, 'src/formats/arrow.ts')).toContain('apache-arrow')
  expect(packagesLoadedBy(all, 'src/index.ts')).toContain('@date-fns/utc/date/mini')
  expect(packagesLoadedBy(all, 'src/index.ts').filter(name => HEAVY.includes(name.split('/')[0]))).toEqual([])
})

/** Small packages that flags need. */
const LIGHT = ['fastest-levenshtein']
const commands = sourceFiles().filter(file => partOf(file) === 'commands' && file !== 'src/commands/index.ts')

test.each(commands)('%s loads oclif alone before its job runs', file => {
  const packages = packagesLoadedBy(all, file).filter(name => !isBuiltin(name) && !LIGHT.includes(name))
  expect(packages).toContain('@oclif/core/command')
  expect(packages.filter(name => !name.startsWith('@oclif/core/'))).toEqual([])
})

describe('no import cycles', () => {
  const edge = (from: string, target: string): Edge => ({ from, target, specifier: target, kind: 'type' })

  test('one is found, with its files', () => {
    const line = [edge('a', 'b'), edge('b', 'c'), edge('a', 'c'), edge('c', 'd')]
    expect(findCycle(line)).toBeUndefined()
    expect(findCycle([...line, edge('d', 'b')])).toEqual(['b', 'c', 'd', 'b'])
    expect(findCycle([edge('a', 'a')])).toEqual(['a', 'a'])
  })

  test('in the sources', () => {
    expect(findCycle(all)).toBeUndefined()
  })
})

test(`a command has at most ${MAX_COMMAND_LINES} lines`, () => {
  const long = sourceFiles()
    // The table of all commands grows with them.
    .filter(file => partOf(file) === 'commands' && file !== 'src/commands/index.ts')
    .map(file => ({ file, lines: readFileSync(join(ROOT, file), 'utf8').trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > MAX_COMMAND_LINES)
  expect(long).toEqual([])
})
