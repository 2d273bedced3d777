import { readFileSync } from 'node:fs'
import { PACKAGE_URL } from '../version.js'

/** What `klines help TOPIC` explains: each is a section of src/docs/reference.md. */
export const HELP_TOPICS = {
  ranges: 'How to write times and ranges, and when candles are missing.',
  formats: 'Formats of files, their columns, numbers and times.',
  mirrors: 'The folder with downloaded windows, and what is final.',
  lakes: 'Folders of Parquet files that stay current.',
  'exit-codes': 'What the exit code of a command means.',
} as const

export type HelpTopic = keyof typeof HELP_TOPICS

export function isHelpTopic(word: string): word is HelpTopic {
  return Object.hasOwn(HELP_TOPICS, word)
}

/** The title and the Markdown of a topic. */
export function readHelpTopic(topic: HelpTopic): { title: string; text: string } {
  const title = topic[0].toUpperCase() + topic.slice(1).replace('-', ' ')
  const reference = readFileSync(new URL('src/docs/reference.md', PACKAGE_URL), 'utf8')
  const [, text] = reference.split(`\n## ${title}\n`)
  return { title, text: text.split(/\n## /)[0].trim() }
}

/** How wide lines may be, and what oclif does for all texts of the help. */
interface Layout {
  wrap(text: string, indentation: number): string
  indent(text: string, spaces: number): string
  list(rows: [string, string][]): string
}

/** Markdown as plain text for a terminal: paragraphs, lists, tables and code of the reference, and nothing else. */
export function formatMarkdown(markdown: string, layout: Layout): string {
  const blocks = markdown.split(/\n\n+/)
  return blocks.map(block => formatBlock(block, layout)).join('\n\n')
}

function formatBlock(block: string, { wrap, indent, list }: Layout): string {
  if (block.startsWith('```')) return indent(block.split('\n').slice(1, -1).join('\n'), 2)
  if (block.startsWith('|')) {
    const rows = block.split('\n').slice(2)
    const cells = rows.map(row =>
      row
        .split('|')
        .slice(1, -1)
        .map(cell => toPlain(cell.trim())),
    )
    return indent(list(cells.map(([first, ...others]) => [first, others.join(': ')])), 2)
  }
  if (!block.startsWith('- ')) return wrap(toPlain(block), 0)
  const items = block.split(/\n(?=- )/).map(item => wrap(toPlain(item.slice(2)), 4))
  return items.map(item => `- ${indent(item, 2).trimStart()}`).join('\n')
}

/** A text in one line, without the marks of code and bold text; a link names its file in the package. */
function toPlain(text: string): string {
  return text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, '$1 (src/docs/$2)')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll(/\*(\S[^*]*\S)\*/g, '$1')
}
