import * as Args from '@oclif/core/args'
import { addressFlag, GreetingCommand } from '../cli/greeting-command.js'
import { printJson } from '../cli/terminal/print.js'

export default class OpenApi extends GreetingCommand {
  static override summary = 'Print the OpenAPI document of an API as the server returns it.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> klines > openapi.json',
  ]
  static override baseFlags = {
    ...GreetingCommand.baseFlags,
    'base-url': addressFlag('the server that has the document'),
  }
  static override args = {
    api: Args.string({
      description: 'Name of the API.',
      options: ['greeting', 'klines', 'export'],
      default: 'greeting',
      ignoreStdin: true,
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(OpenApi)
    const { getSpec } = await import('../greeting/client.js')
    printJson(await getSpec(args.api as 'greeting' | 'klines' | 'export', this.service(flags)))
  }
}
