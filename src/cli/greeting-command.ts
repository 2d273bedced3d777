import * as Flags from '@oclif/core/flags'
import type { GreetingOptions } from '../greeting/client.js'
import { GREETING_BASE_URL } from '../sources/base-url.js'
import { BaseCommand } from './base-command.js'
import type { OutputOptions } from './flags/run.js'

/** The flag with the address of a server that has the greeting API. */
export function addressFlag(server: string) {
  return Flags.string({
    helpGroup: 'what',
    summary: `Base address of ${server}, without /api. Default: ${GREETING_BASE_URL}.`,
    helpValue: 'URL',
    // KLINES_BASE_URL is the address of the klines service.
    env: 'KLINES_GREETING_URL',
  })
}

/** The base of the commands of the greeting API. They leave nothing on disk. */
export abstract class GreetingCommand extends BaseCommand {
  static override baseFlags = {
    ...BaseCommand.baseFlags,
    'base-url': addressFlag('the greeting API'),
  }

  protected override readonly interruptionAdvice: string = ''

  /** The service that the flags name, and until when it is used. */
  protected service(
    flags: OutputOptions & { 'base-url'?: string | undefined },
  ): GreetingOptions & { signal: AbortSignal } {
    return { baseUrl: flags['base-url'], signal: this.context(flags).signal }
  }
}
