import type { TSchema } from 'typebox'
import { HttpError } from './error.js'
import type { Validator } from './validator.js'

/** Schemas of the parts of a request. */
export interface FieldSchemas {
  readonly params?: TSchema | undefined
  readonly query?: TSchema | undefined
  readonly body?: TSchema | undefined
}

/** A field of a request that its schema rejects. */
interface FieldFault {
  /** Such as `body.profile.age`. */
  readonly field: string
  readonly message: string
}

const PARTS = ['params', 'query', 'body'] as const

/** The parts of a request. */
export type Fields = Readonly<Record<(typeof PARTS)[number], unknown>>

/**
 * Returns a check that throws `HttpError` 400 with every field which the schemas reject. The first call compiles them: that
 * takes a tenth of a second, and most servers never get such a request.
 */
export function fieldCheck(schemas: FieldSchemas): (fields: Fields) => Promise<void> {
  let validators: Promise<Map<(typeof PARTS)[number], Validator>> | undefined
  return async fields => {
    validators ??= compile(schemas).catch(error => {
      // The next request tries again.
      validators = undefined
      throw error
    })
    const faults = [...(await validators)].flatMap(([part, validate]) => findFaults(validate, fields[part], part))
    if (faults.length === 0) return
    const [{ field, message }] = faults
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
    throw new HttpError(400, `${field} ${message}${more}.`, { cause: faults })
  }
}

async function compile(schemas: FieldSchemas): Promise<Map<(typeof PARTS)[number], Validator>> {
  const { compileSchema } = await import('./validator.js')
  return new Map(
    PARTS.flatMap(part => {
      const schema = schemas[part]
      return schema ? [[part, compileSchema(schema)]] : []
    }),
  )
}

function findFaults(validate: Validator, value: unknown, part: string): FieldFault[] {
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message = 'is wrong', keyword, params }) => {
    const missing = keyword === 'required' ? [String(params.missingProperty)] : []
    const names = [part, ...instancePath.split('/').slice(1), ...missing]
    const values = keyword === 'enum' ? `: ${(params.allowedValues as unknown[]).join(', ')}` : ''
    return { field: names.join('.'), message: missing.length > 0 ? 'is missing' : `${message}${values}` }
  })
}

/**
 * The query of a request target by name; a name that is given more than once has an array. What is no escape of UTF-8 stays as it
 * is: the check of the fields says what is wrong with it.
 */
export function parseQuery(target: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null)
  const [, text = ''] = /\?(.*)$/s.exec(target) ?? []
  for (const pair of text.split('&').filter(pair => pair !== '')) {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? []
    const key = decodeField(name)
    const before = query[key]
    query[key] = before === undefined ? decodeField(value) : [before, decodeField(value)].flat()
  }
  return query
}

function decodeField(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}
