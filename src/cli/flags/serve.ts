import * as Flags from '@oclif/core/flags'

/** What `serve` serves, and where. */
export const serveFlags = {
  host: Flags.string({
    helpGroup: 'network',
    summary: 'Address to listen on; non-loopback addresses expose the server.',
    helpValue: 'ADDRESS',
    default: '127.0.0.1',
    env: 'KLINES_HOST',
  }),
  port: Flags.integer({
    helpGroup: 'network',
    summary: 'Port to listen on; 0 picks a free port.',
    helpValue: 'N',
    default: 8787,
    min: 0,
    max: 65_535,
    env: 'KLINES_PORT',
  }),
  upstream: Flags.boolean({
    helpGroup: 'network',
    summary: 'Download missing and open windows from the service at --base-url on request.',
    env: 'KLINES_UPSTREAM',
  }),
  strict: Flags.boolean({
    helpGroup: 'what',
    summary: 'Greeting API: accept only what the public instance accepts.',
    env: 'KLINES_STRICT',
  }),
  'stream-text': Flags.string({
    helpGroup: 'what',
    summary: 'Text of the token stream of the greeting API.',
    helpValue: 'TEXT',
    env: 'KLINES_STREAM_TEXT',
  }),
  open: Flags.boolean({ helpGroup: 'appearance', summary: 'Open the start page in a browser.', env: 'KLINES_OPEN' }),
}
