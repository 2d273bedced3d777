import Type from 'typebox'

/** The parts of a user update, with the public rules: the server's validation, the types and the OpenAPI description come of them. */
export const UserUpdateRequest = Type.Object({
  params: Type.Object({
    id: Type.String({
      format: 'uuid',
      description: 'User ID',
      examples: ['123e4567-e89b-12d3-a456-426614174000'],
    }),
  }),
  query: Type.Object({ notify: Type.Enum(['email', 'push', 'none'], { type: 'string', description: 'Notification' }) }),
  body: Type.Object(
    {
      email: Type.String({ format: 'email', description: 'User email', examples: ['john@example.com'] }),
      profile: Type.Object(
        {
          name: Type.String({ minLength: 2, description: 'User full name', examples: ['John Doe'] }),
          age: Type.Integer({ minimum: 16, maximum: 120, description: 'User age', examples: [25] }),
        },
        { description: 'User profile' },
      ),
    },
    { $id: 'UserUpdate', description: 'What is to be known of a user' },
  ),
})

export const UserUpdateResultSchema = Type.Object(
  {
    success: Type.Boolean({ description: 'Success status' }),
    id: Type.String({ format: 'uuid', description: 'User ID' }),
    notify: Type.String({ description: 'Notification type' }),
  },
  { $id: 'UserUpdateResult', additionalProperties: false },
)

export const TokenSchema = Type.Object(
  { message: Type.String({ description: 'Message from the token' }) },
  { $id: 'Token', additionalProperties: false },
)

/** The body of a user update. */
export type UserUpdate = Type.Static<typeof UserUpdateRequest.properties.body>
/** The response of a user update. */
export type UserUpdateResult = Type.Static<typeof UserUpdateResultSchema>
/** One object of the token stream. */
export type Token = Type.Static<typeof TokenSchema>
