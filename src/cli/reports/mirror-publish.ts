import { join } from 'node:path'
import type { PublishReport } from '../../download/publish.js'
import { plural } from '../../klines/text.js'
import type { Report } from './report.js'
import type { PublishObject } from './schema.js'

/** `mirror publish`: what the tree has, what was added, and where it is. */
export function mirrorPublishReport(report: PublishReport): Report<PublishObject> {
  const { symbols, intervals, ...rest } = report
  const tree = join(report.mirror, 'api')
  return {
    json: { ...rest, tree, symbols: [...symbols], intervals: [...intervals] },
    text: () => publishText(report, tree),
  }
}

function publishText({ symbols, intervals, windows, emptyWritten, listsWritten }: PublishReport, tree: string): string {
  const contents = `${plural(symbols.length, 'symbol')}, ${plural(intervals.length, 'interval')}, ${plural(windows, 'window')}`
  const written = `Written: ${plural(emptyWritten, 'empty window')}, ${plural(listsWritten, 'list')}.`
  return [
    `The tree is complete: ${contents}. ${written}`,
    `Any static host can serve it: upload ${tree} as the folder api of its address.`,
  ].join('\n')
}
