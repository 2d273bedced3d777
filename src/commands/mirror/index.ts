import * as Flags from '@oclif/core/flags'
import { command } from '../../cli/command.js'
import { inGroup } from '../../cli/flags/group.js'
import { locationFlags } from '../../cli/flags/service.js'

export default command({
  summary: 'Show what is in the local mirror, and which other mirrors there are.',
  description:
    'Shows the windows, time range and size of each series, and a line for each other mirror in the cache folder. To remove a series, remove its folder, api/klines/INTERVAL/SYMBOL in that of the mirror; to remove a mirror, remove its folder.',
  examples: ['klines mirror', 'klines mirror --mirror DIR --json', 'ls "$(klines mirror --path)"'],
  flags: {
    ...locationFlags,
    ...inGroup('output', {
      path: Flags.boolean({ summary: 'Print the folder of the mirror alone, which may be missing.' }),
    }),
  },
  async run({ flags: { path, json }, options, print }) {
    const { openMirror } = await import('../../engine/run.js')
    const { mirrorStatus } = await import('../../engine/mirror-status.js')
    const { otherMirrors } = await import('../../mirror/user-mirrors.js')
    const { MirrorPath, MirrorReport } = await import('../reports/mirror.js')
    const { root, exists } = openMirror(options)
    if (path && !(json && exists)) {
      const nothing = { baseUrl: undefined, windows: 0, cachedBytes: 0, series: [], others: [] }
      return print(MirrorPath, { mirror: root, ...nothing })
    }
    const status = await mirrorStatus(options)
    print(MirrorReport, { ...status, others: await otherMirrors(root, options.signal) })
  },
})
