import * as Flags from '@oclif/core/flags'
import { inGroup } from './group.js'

/** The fields of a user update. */
export const userFlags = inGroup('what', {
  email: Flags.string({ summary: 'Email address.', helpValue: 'ADDRESS' }),
  name: Flags.string({ summary: 'Full name.', helpValue: 'TEXT' }),
  age: Flags.string({ summary: 'Age in years.', helpValue: 'YEARS' }),
  notify: Flags.string({
    summary: 'Notification type, such as email, push or none.',
    helpValue: 'TYPE',
  }),
})

/** What `userFlags` parse to. */
export type UserFlags = { [name in keyof typeof userFlags]?: string | undefined }

/** How tokens are printed: their messages as one text, or an object a line. */
export const TOKEN_FORMATS = ['text', 'jsonl'] as const
export type TokenFormat = (typeof TOKEN_FORMATS)[number]
