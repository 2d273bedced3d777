import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { TSchema } from 'typebox'

/** Tells whether a value is as its schema says; `errors` are those of the last call. */
export type Validator = ValidateFunction

/** Compiles a schema into a function that finds all errors and changes nothing. */
export function compileSchema(schema: TSchema): Validator {
  return formats.default(new Ajv({ allErrors: true })).compile(schema)
}
