import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A small mistake in a source, and the test that must fail with it. */
export interface Mutation {
  /** The list that has it, and its place there, such as `mirror 3`. */
  readonly name: string
  /** The path of the source, such as `src/mirror/mirror.ts`. */
  readonly file: string
  /** Text that the file has once, and what replaces it. */
  readonly text: string
  readonly replacement: string
  /** The file of the test, and the test's full name: those of its groups before its own. */
  readonly testFile: string
  readonly testName: string
}

/**
 * The mutations of all lists, `test/mutants/*.txt`. A mutation is a block of lines: the file, the lines of the text (`- `), those of
 * the replacement (`+ `), the test (`FILE > NAME`). Empty lines separate blocks, and `#` begins a comment. Throws an `Error` with all
 * faults of the lists: what a change of the project has left behind.
 */
export function readMutations(root: string): Mutation[] {
  const folder = join(root, 'test/mutants')
  const lists = readdirSync(folder).filter(name => name.endsWith('.txt'))
  const mutations = lists.flatMap(name => parseList(basename(name, '.txt'), readFileSync(join(folder, name), 'utf8')))
  const faults = mutations.flatMap(mutation => findFault(root, mutation) ?? [])
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return mutations
}

function parseList(list: string, text: string): Mutation[] {
  const lines = text.split('\n').filter(line => !line.startsWith('#'))
  const blocks = lines
    .join('\n')
    .trim()
    .split(/\n{2,}/)
  return blocks
    .filter(block => block !== '')
    .map((block, index) => parseBlock(`${list} ${index + 1}`, block.split('\n')))
}

function parseBlock(name: string, lines: readonly string[]): Mutation {
  const part = (sign: string) =>
    lines
      .filter(line => line === sign || line.startsWith(`${sign} `))
      .map(line => line.slice(2))
      .join('\n')
  const [testFile, ...test] = (lines.at(-1) ?? '').split(' > ')
  return { name, file: lines[0], text: part('-'), replacement: part('+'), testFile, testName: test.join(' > ') }
}

function findFault(root: string, { name, file, text, testFile, testName }: Mutation): string | undefined {
  if (!existsSync(join(root, file))) return `${name}: there is no ${file}.`
  if (!existsSync(join(root, testFile)) || testName === '')
    return `${name}: the last line names no test: expected FILE > NAME.`
  const times = readFileSync(join(root, file), 'utf8').split(text).length - 1
  if (text === '' || times !== 1)
    return `${name}: expected this text once in ${file}, and found it ${times} times:\n${text}`
  return undefined
}
