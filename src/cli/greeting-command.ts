import * as Flags from '@oclif/core/flags'
import { GREETING_BASE_URL } from '../service/base-url.js'
import type { GreetingService } from '../service/greeting-service.js'
import { openGreetingService } from '../service/open-greeting.js'
import { KlinesCommand, type Manner } from './klines-command.js'
import { startEndpoint } from './sample.js'

/** The base of the commands of the greeting API: whom they ask, for how long, and that nothing stays on disk. */
export abstract class GreetingCommand extends KlinesCommand {
  static override baseFlags = {
    ...KlinesCommand.baseFlags,
    'base-url': Flags.string({
      summary: `Base address of the greeting service, the part before /api; sample runs one for this command. Default: ${GREETING_BASE_URL}.`,
      helpValue: 'URL',
      // KLINES_BASE_URL is the address of the klines service, which is another one.
      env: 'KLINES_GREETING_URL',
    }),
  }

  protected override get interruptionAdvice(): string {
    return ''
  }

  /** Does `work` with the service that the flags name; whatever is left of it is ended. */
  protected async withService<T>(
    flags: Manner & { 'base-url'?: string | undefined },
    work: (service: GreetingService, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { signal } = this.context(flags)
    const endpoint = await startEndpoint(flags['base-url'])
    try {
      const service = await openGreetingService({ baseUrl: endpoint.baseUrl })
      try {
        return await work(service, signal)
      } finally {
        await service.close()
      }
    } finally {
      await endpoint.close()
    }
  }
}
