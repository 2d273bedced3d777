import { command } from '../../cli/command.js'
import { locationFlags, networkFlags } from '../../cli/flags/service.js'

const PUBLISHING = { start: 'Checking windows', verb: 'Checking', noun: 'window' }

export default command({
  summary: 'Make the local mirror a complete static tree that any host can serve.',
  description:
    'Adds the lists, and an empty file for each window that starts in the future or ends before the first candle of its series. A window that is missing or corrupt is named, and nothing is written then. Nothing is uploaded.',
  examples: ['klines mirror publish', 'klines mirror publish --mirror DIR'],
  flags: { ...locationFlags, ...networkFlags },
  advice: 'The mirror is not complete yet; run the same command again.',
  async run({ options, during, show }) {
    const { publishMirror } = await import('../../engine/publish.js')
    const { MirrorPublish } = await import('../reports/mirror.js')
    show(MirrorPublish, await during(PUBLISHING, events => publishMirror({ ...options, ...events })))
  },
})
