import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PROJECT } from '../support/cli/cli-sandbox.js'
import { filesBelow } from '../support/files-below.js'

/** Phrases that a reader has to learn first, and what is said instead. */
const PHRASES: readonly [RegExp, string][] = [
  [/\b(bring|brings|brought)\b/i, 'download, fetch'],
  [/\bnever touche[sd]|network is never\b/i, 'works offline'],
  [/\b(be|is|was|were) had\b/i, 'could not be downloaded'],
  [/\bask(s|ed)? (for )?(them |it )?again\b/i, 'download again'],
  [/\basked for\b/i, 'requested'],
  [/\bmade (candles|ones)\b/i, 'synthetic sample data'],
  [/\bheld\b/i, 'cached'],
  [/\blook(s|ing) at (the|every)\b/i, 'checking'],
  [/\bstay away\b/i, 'rate limited until'],
  [/\b(un)?sound\b/i, 'valid, no problems found'],
  [/\bfigures of\b/i, 'statistics of'],
  [/\blets? the network in\b/i, 'exposes the server'],
  [/\btakes a free\b/i, 'picks a free port'],
  [/\bending tells\b/i, 'inferred from the extension'],
  [/\b(proof|prove[sn]?)\b/i, 'verification, check'],
  [/\bwhat it promises\b/i, 'reliability'],
  [/\bthe care of\b/i, 'maintenance'],
]

/** TypeScript without its comments. */
function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/ .*$/gm, '')
}

function read(path: string): string {
  const text = readFileSync(join(PROJECT, path), 'utf8')
  return path.endsWith('.ts') ? withoutComments(text) : text
}

const sources = filesBelow(join(PROJECT, 'src')).filter(name => /\.(ts|html|css)$/.test(name))
const docs = filesBelow(join(PROJECT, 'src/docs')).filter(name => name.endsWith('.md'))
const texts = [
  ...sources.filter(name => !name.includes('kernel/')).map(name => `src/${name}`),
  ...docs.map(name => `src/docs/${name}`),
  'README.md',
  'oclif.manifest.json',
  'package.json',
]

it.each(PHRASES)('no text that users read says %s', (phrase, better) => {
  const found = texts.flatMap(path => {
    const lines = read(path).split('\n')
    return lines.filter(line => phrase.test(line)).map(line => `${path}: ${line.trim()} (better: ${better})`)
  })
  expect(found).toEqual([])
})
