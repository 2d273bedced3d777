import { BaseCommand } from '../../cli/base-command.js'
import { locationFlags, networkFlags } from '../../cli/flags/service.js'

export default class MirrorPublish extends BaseCommand {
  static override summary = 'Make the local mirror a complete static tree that any host can serve.'
  static override description =
    'Adds the lists, and an empty file for each window that starts in the future or ends before the first candle of its series. A window that is missing or corrupt is named, and nothing is written then. Nothing is uploaded.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --mirror DIR']
  static override flags = { ...locationFlags, ...networkFlags }

  protected override readonly interruptionAdvice: string = 'The mirror is not complete yet; run the same command again.'

  async run(): Promise<void> {
    const { flags } = await this.parse(MirrorPublish)
    const { runMirrorPublish } = await import('../../cli/jobs/mirror.js')
    this.show(await runMirrorPublish(flags, this.context(flags)))
  }
}
