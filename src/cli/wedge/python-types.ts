import type { SchemaShape, ShapeField } from './schema-shape.ts'

const SCALARS = { string: 'str', number: 'float', integer: 'int', boolean: 'bool', null: 'None' }

const KEYWORDS =
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  )

/** The declarations of a named type: its inner objects first, each with a name of its own. */
export function toPythonDeclarations(name: string, shape: SchemaShape): string[] {
  if (shape.kind === 'object') return declareClass(name, shape.fields)
  const declarations: string[] = []
  const type = toPython(shape, name, declarations)
  return [...declarations, `${name}: TypeAlias = ${JSON.stringify(type)}`]
}

function declareClass(name: string, fields: ShapeField[]): string[] {
  const declarations: string[] = []
  const lines = fields.map((field) => ({ ...field, type: fieldType(name, field, declarations) }))
  const isClass = fields.every((field) => /^[A-Za-z_]\w*$/.test(field.name) && !KEYWORDS.includes(field.name))
  const body = isClass
    ? `class ${name}(TypedDict):\n${lines.map((line) => classField(line.name, line.type, line.description)).join('\n')}`
    : `${name} = TypedDict(\n    "${name}",\n    {\n${lines.map((line) => `        ${JSON.stringify(line.name)}: ${JSON.stringify(line.type)},`).join('\n')}\n    },\n)`
  return [...declarations, body]
}

function classField(name: string, type: string, description: string | undefined): string {
  const comment = description === undefined ? '' : `    # ${description.replace(/\s+/g, ' ').trim()}\n`
  return `${comment}    ${name}: ${type}`
}

function fieldType(parent: string, { name, isRequired, shape }: ShapeField, declarations: string[]): string {
  const type = toPython(shape, parent + toTypeName(name), declarations)
  return isRequired ? type : `NotRequired[${type}]`
}

/** A shape as a type. Objects inside it are added to `declarations` as classes named `name`. */
function toPython(shape: SchemaShape, name: string, declarations: string[]): string {
  switch (shape.kind) {
    case 'named':
      return shape.name
    case 'literal':
      return literalType(shape.value)
    case 'scalar':
      return SCALARS[shape.type]
    case 'array':
      return `list[${toPython(shape.items, `${name}Item`, declarations)}]`
    case 'map':
      return 'dict[str, Any]'
    case 'object':
      declarations.push(...declareClass(name, shape.fields))
      return name
    case 'union':
      return unionType(shape.of, name, declarations)
    default:
      return 'Any'
  }
}

function unionType(shapes: SchemaShape[], name: string, declarations: string[]): string {
  const objects = shapes.filter(({ kind }) => kind === 'object')
  const types = shapes.map((shape) => {
    const index = objects.length > 1 ? objects.indexOf(shape) + 1 : 0
    return toPython(shape, index > 0 ? `${name}${index}` : name, declarations)
  })
  const literals = types.flatMap((type) => /^Literal\[(.*)\]$/.exec(type)?.[1] ?? [])
  const others = types.filter((type) => !type.startsWith('Literal['))
  return [...new Set([...(literals.length > 0 ? [`Literal[${literals.join(', ')}]`] : []), ...others])].join(' | ')
}

/** Python has no literal type for a number with a fraction. */
function literalType(value: string | number | boolean | null): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'Literal[True]' : 'Literal[False]'
  return typeof value === 'number' && !Number.isInteger(value) ? 'float' : `Literal[${JSON.stringify(value)}]`
}

/** `customer_email` and `customer-email` become `CustomerEmail`. */
export function toTypeName(name: string): string {
  const parts = name.split(/[^A-Za-z0-9]+/).filter((part) => part !== '')
  return parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('')
}
