import type { Json, JsonObject } from '../session/json.ts';

/** Keywords that hold one schema or a list of them, and those that hold schemas by name. */
const HOLDS_SCHEMAS = new Set(['items', 'additionalProperties', 'anyOf', 'allOf', 'oneOf', 'not']);
const HOLDS_NAMED = new Set(['properties', 'definitions', '$defs', 'patternProperties']);

/**
 * The schema with every object in it closed (`additionalProperties: false`) unless it says what else may be there. Some
 * providers take no other schema for a structured output; the AI SDK's own functions do the same.
 */
export function closedSchema(schema: JsonObject): JsonObject {
  const closed = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closedKeyword(key, value)]));
  const { type, additionalProperties } = schema;
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  const isOpen = additionalProperties === undefined || additionalProperties === true;
  return isObject && isOpen ? { ...closed, additionalProperties: false } : closed;
}

function closedKeyword(key: string, value: Json): Json {
  if (HOLDS_SCHEMAS.has(key)) return Array.isArray(value) ? value.map(closedValue) : closedValue(value);
  if (!HOLDS_NAMED.has(key) || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, closedValue(schema)]));
}

const closedValue = (value: Json): Json => (isObject(value) ? closedSchema(value) : value);

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
