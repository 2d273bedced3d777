import * as Args from '@oclif/core/args'
import { BaseCommand } from '../cli/base-command.js'
import { EXIT_CODES } from '../cli/error-report.js'
import { updateFlags } from '../cli/flags/download.js'

export default class Update extends BaseCommand {
  static override summary = 'Make the mirror, or lakes and files, current: one command for cron.'
  static override description =
    `Without a path, downloads what every series of the mirror lacks or can still change, from its first cached window to now.

With paths, makes lakes, Parquet and Arrow files current from what they say about themselves: series, range and options. A range that is open or moves, such as --last 90d, goes on; one with two dates takes changed candles only. What has not changed is not written. All paths are checked first: if one cannot be used, nothing is downloaded or written, and the exit code is 2. A file that another program has changed is left alone.

Candles come from the base address that the file names, if that is the public one, binance, sample, or one of which there is a mirror; any other has to be named with --base-url.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> lake/ btcusdt-1h.parquet',
    '<%= config.bin %> <%= command.id %> --base-url binance --yes --json',
    '<%= config.bin %> <%= command.id %> lake/ --dry-run',
  ]
  static override args = {
    path: Args.string({
      description: 'Folders of lakes, and Parquet and Arrow files of klines. Default: the mirror.',
      multiple: true,
      required: false,
    }),
  }
  static override flags = updateFlags

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Update)
    const { runUpdate } = await import('../cli/jobs/update.js')
    const report = await runUpdate(args.path ?? [], flags, this.context(flags))
    this.show(report)
    if (report.failure === undefined) return
    if (!flags.json) throw report.failure
    process.exitCode = EXIT_CODES[report.failure.code]
  }
}
