import * as Args from '@oclif/core/args'
import { startDatesReport } from '../cli/catalogue-report.js'
import { placeFlags } from '../cli/flags.js'
import { KlinesCommand } from '../cli/klines-command.js'
import { runListJob } from '../cli/list-job.js'
import { parseInterval } from '../klines/intervals.js'

export default class StartDates extends KlinesCommand {
  static override description = `The windows of an interval, and which symbols the mirror holds of each.

Asks the service for its list; when it cannot be reached, the mirror.`
  static override examples = ['<%= config.bin %> <%= command.id %> 1h', '<%= config.bin %> <%= command.id %> 1M --json']
  static override args = {
    interval: Args.string({ description: 'Candle length such as 1h; 1M is a month.', required: true }),
  }
  static override flags = placeFlags

  async run(): Promise<void> {
    const { args, flags } = await this.parse(StartDates)
    const interval = parseInterval(args.interval)
    const report = await runListJob(flags, this.context(flags), lists => startDatesReport(lists, interval), [interval])
    this.showData(report.json, report.text)
  }
}
