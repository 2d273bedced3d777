import Type from 'typebox'

/** The statuses of an error object, as the service's OpenAPI description lists them. */
export const ERROR_STATUSES = [
  100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404,
  405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 424, 428, 429, 500, 501, 502, 503,
  504, 505,
] as const

/** The body of every error response, as in the service's OpenAPI description. */
export const ErrorObjectSchema = Type.Object(
  {
    statusCode: Type.Enum([...ERROR_STATUSES], { type: 'integer', description: 'HTTP status code' }),
    message: Type.String({ description: 'Error message' }),
    isError: Type.Literal(true, { description: 'Always true' }),
    cause: Type.Optional(Type.Unknown({ description: 'Error cause of any shape' })),
  },
  {
    $id: 'ErrorObject',
    additionalProperties: false,
    description: 'What every failed request is answered with',
    examples: [{ statusCode: 400, message: 'What is wrong, in words.', isError: true }],
  },
)

export type ErrorObject = Type.Static<typeof ErrorObjectSchema>
