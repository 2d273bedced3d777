import * as Flags from '@oclif/core/flags'
import { inGroup } from './group.js'

/** What `serve` serves, and where. */
export const serveFlags = {
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
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
    }),
    upstream: Flags.boolean({
      summary: 'Download missing and open windows from the service at --base-url on request.',
    }),
  }),
  ...inGroup('what', {
    'stream-text': Flags.string({
      summary: 'Text of the token stream of the greeting API.',
      helpValue: 'TEXT',
    }),
  }),
}
