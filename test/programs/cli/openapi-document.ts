/** An OpenAPI 3.0 document in the style of payment APIs: references, a circle, forms, clashes and several schemes. */
export const SHOP_YAML = `
openapi: 3.0.3
info: { title: Shop API, version: '2026-01-01', description: Orders and refunds of a shop. }
externalDocs: { url: 'https://shop.example/docs' }
servers:
  - url: https://{region}.shop.example/{stage}/
    variables: { region: { default: eu }, stage: { default: v1 } }
security: [{ basic: [] }, { token: [] }]
tags: [{ name: Refunds }, { name: Orders }]
paths:
  /orders/{id}:
    parameters: [{ $ref: '#/components/parameters/OrderId' }]
    get:
      operationId: orders/get-one
      tags: [Orders]
      summary: Read an order
      parameters:
        - { name: expand, in: query, schema: { type: array, items: { type: string, enum: [lines, customer] } } }
        - { name: 'created[gte]', in: query, schema: { type: integer } }
        - { name: session, in: cookie, schema: { type: string } }
        - { name: Accept, in: header, schema: { type: string } }
      responses: { '200': { description: ok } }
    put:
      operationId: updateOrder
      tags: [Orders]
      parameters:
        - { name: X-Reason, in: header, required: true, schema: { type: string } }
        - { name: note, in: query, schema: { type: string, nullable: true } }
      requestBody:
        content:
          application/json: { schema: { $ref: '#/components/schemas/Order' } }
      responses: { '200': { description: ok } }
  /refunds:
    post:
      operationId: PostRefunds
      tags: [Refunds]
      summary: <p>Create a refund.</p>
      parameters: [{ name: Idempotency-Key, in: header, schema: { type: string } }]
      requestBody:
        required: true
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              required: [charge]
              properties:
                charge: { type: string, maxLength: 5000 }
                amount: { type: integer }
                metadata: { type: object, additionalProperties: { type: string } }
      responses: { '201': { description: created } }
    get:
      tags: [Refunds]
      responses: { default: { description: a list } }
  /files:
    post:
      operationId: upload
      requestBody: { content: { multipart/form-data: { schema: { properties: { file: { type: string, format: binary } } } } } }
      responses: {}
  /reports:
    post:
      operationId: remoteSchema
      requestBody: { content: { application/json: { schema: { $ref: 'https://elsewhere.example/report.json' } } } }
      responses: {}
  /lists:
    post:
      operationId: sendList
      requestBody: { content: { application/json: { schema: { type: array, items: { type: string } } } } }
      responses: {}
components:
  parameters:
    OrderId: { name: id, in: path, required: true, schema: { type: string } }
  securitySchemes:
    basic: { type: http, scheme: basic }
    token: { type: http, scheme: bearer }
    oauth:
      type: oauth2
      flows:
        authorizationCode:
          authorizationUrl: https://shop.example/authorize
          tokenUrl: https://shop.example/token
          scopes: { read: all, write: all }
    cookie: { type: apiKey, in: cookie, name: sid }
  schemas:
    Order:
      allOf:
        - { $ref: '#/components/schemas/Thing' }
        - type: object
          required: [total]
          properties:
            total: { type: number, minimum: 0 }
            parent: { $ref: '#/components/schemas/Order' }
            state: { type: string, enum: [open, paid], nullable: true }
    Thing:
      type: object
      required: [id]
      properties:
        id: { type: string }
        created: { type: string, readOnly: true }
`
