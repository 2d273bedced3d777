import * as Flags from '@oclif/core/flags'
import { command } from '../cli/command.js'
import { inGroup, LIST } from '../cli/flags/group.js'
import { locationFlags, networkFlags } from '../cli/flags/shared.js'

export default command({
  summary: 'Serve the mirror, a candle viewer and the greeting API on this machine.',
  description: `Serves the files of the mirror under the same paths as the klines service, a page with charts and downloads, exports over HTTP, and the greeting API. Without a mirror it serves synthetic sample data. A window that is not cached is 404; with --upstream it is downloaded.
The first line on stdout is the address. Ctrl-C stops the server once pending requests are answered.`,
  examples: [
    'klines serve',
    'klines serve --upstream --port 0 --json',
    'klines download BTCUSDT -i 1h --base-url http://127.0.0.1:8787',
  ],
  flags: {
    ...inGroup('network', {
      host: Flags.string({
        summary: 'Address to listen on; non-loopback addresses expose the server.',
        helpValue: 'ADDRESS',
        default: '127.0.0.1',
      }),
      port: Flags.integer({
        summary: 'Port to listen on; 0 picks a free port.',
        helpValue: 'N',
        default: 8787,
        min: 0,
        max: 65_535,
      }),
      'allow-host': Flags.string({
        summary:
          'Further name that it answers for on a loopback address, such as that of a proxy; repeated or separated by commas.',
        helpValue: 'NAME',
        ...LIST,
      }),
      upstream: Flags.boolean({
        summary: 'Download missing and open windows from the service at --base-url on request.',
      }),
    }),
    ...inGroup('what', {
      'stream-text': Flags.string({ summary: 'Text of the token stream of the greeting API.', helpValue: 'TEXT' }),
    }),
    ...locationFlags,
    ...networkFlags,
  },
  // The server gives requests five seconds to end.
  graceMs: 8_000,
  async run({ flags, options, warn, print }) {
    const { findServed, startServing } = await import('../cli/serving.js')
    const { Serve } = await import('./reports/local.js')
    const served = findServed(options, warn)
    const { ended, ...address } = await startServing(served, options, { warn, isVerbose: flags.verbose })
    print(Serve, { ...served, ...address })
    await ended
  },
})
