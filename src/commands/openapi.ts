import * as Args from '@oclif/core/args'
import { command } from '../cli/command.js'
import { addressFlag } from '../cli/flags/service.js'
import { printJson } from '../cli/terminal/print.js'

export default command({
  summary: 'Print the OpenAPI document of an API as the server returns it.',
  examples: ['klines openapi', 'klines openapi klines > openapi.json'],
  args: {
    api: Args.string({
      description: 'Name of the API.',
      options: ['greeting', 'klines', 'export'],
      default: 'greeting',
      ignoreStdin: true,
    }),
  },
  flags: { 'base-url': addressFlag('the server that has the document') },
  advice: '',
  async run({ args, options }) {
    const { getSpec } = await import('../greeting/client.js')
    printJson(await getSpec(args.api as 'greeting' | 'klines' | 'export', options))
  },
})
