// SPDX-License-Identifier: Apache-2.0
package gatun.http.openapi;

import gatun.http.json.JsonWriter;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The values that a body, a member or a parameter may have: a
 * <a href="https://spec.openapis.org/oas/v3.0.3#schema-object">schema of OpenAPI 3.0</a>. One with a name is written
 * once, and referred to elsewhere. Immutable.
 */
public final class Schema {
    /** Any value. */
    public static final Schema ANY = new Schema("", Map.of());

    /** Any text. */
    public static final Schema STRING = type("string");

    /** {@code true} or {@code false}. */
    public static final Schema BOOLEAN = type("boolean");

    /** Any number. */
    public static final Schema NUMBER = type("number");

    /** A whole number of 64 bits. */
    public static final Schema INTEGER = type("integer").with("format", "int64");

    /** A whole number of 63 bits that is not negative. */
    public static final Schema COUNT = INTEGER.with("minimum", 0L).with("maximum", Long.MAX_VALUE);

    /** A whole number of 64 bits without a sign. */
    public static final Schema UNSIGNED =
            type("integer").with("minimum", 0L).with("maximum", new BigInteger("18446744073709551615"));

    /** Any bytes, as the whole of a body. */
    public static final Schema BYTES = STRING.with("format", "binary");

    /** Bytes as text. */
    public static final Schema BASE64 = STRING.with("format", "byte");

    /** Any object. */
    public static final Schema OBJECT = type("object");

    /** The body of a failure: {@code {"error":"..."}}. */
    public static final Schema FAILURE = object("Failure").required("error", STRING);

    private static final String ENUM = "enum";
    private static final String REQUIRED = "required";
    private static final String PROPERTIES = "properties";

    private final String name;

    /** Values are texts, numbers, booleans, {@link Literal}, schemas, and lists and maps of these. */
    private final Map<String, Object> keywords;

    private enum Literal {
        NULL
    }

    private Schema(String name, Map<String, Object> keywords) {
        this.name = name;
        this.keywords = keywords;
    }

    private static Schema type(String type) {
        return ANY.with("type", type);
    }

    /** Objects whose members follow; others may come besides them. */
    public static Schema object(String name) {
        return new Schema(name, OBJECT.keywords);
    }

    /** Arrays with elements of one kind. */
    public static Schema arrayOf(Schema elements) {
        return type("array").with("items", elements);
    }

    /** Objects with any members, of values of one kind. */
    public static Schema mapOf(Schema values) {
        return OBJECT.with("additionalProperties", values);
    }

    /** One of these texts. */
    public static Schema oneOf(String... texts) {
        return STRING.with(ENUM, List.of(texts));
    }

    /** Values of at least one of these kinds. */
    public static Schema anyOf(Schema... kinds) {
        return ANY.with("anyOf", List.of(kinds));
    }

    /** Values of exactly one of these kinds. */
    public static Schema eitherOf(Schema... kinds) {
        return ANY.with("oneOf", List.of(kinds));
    }

    /** The same, named. */
    public Schema named(String other) {
        return new Schema(other, keywords);
    }

    /** The same objects, if they have this member. */
    public Schema required(String member, Schema value) {
        List<Object> members = new ArrayList<>((List<?>) keywords.getOrDefault(REQUIRED, List.of()));
        members.add(member);
        return with(REQUIRED, members).optional(member, value);
    }

    /** The same objects, where the value of this member, if there is one, is such. */
    public Schema optional(String member, Schema value) {
        Map<Object, Object> members = new LinkedHashMap<>((Map<?, ?>) keywords.getOrDefault(PROPERTIES, Map.of()));
        members.put(member, value);
        return with(PROPERTIES, members);
    }

    /** The same arrays, of at least so many elements. */
    public Schema atLeast(long count) {
        return with("minItems", count);
    }

    /** The same numbers, from {@code least} on. */
    public Schema from(long least) {
        return with("minimum", least);
    }

    /** The same numbers, up to {@code most}. */
    public Schema to(long most) {
        return with("maximum", most);
    }

    /** The same texts, where they match. */
    public Schema matching(String pattern) {
        return with("pattern", pattern);
    }

    /** The same values, and {@code null}. */
    public Schema nullable() {
        Schema all = with("nullable", true);
        if (!(keywords.get(ENUM) instanceof List<?> texts)) {
            return all;
        }
        List<Object> values = new ArrayList<>(texts);
        values.add(Literal.NULL);
        return all.with(ENUM, values);
    }

    /** The same objects, without any other member. */
    public Schema closed() {
        return with("additionalProperties", false);
    }

    /** The same values, with words about them. */
    public Schema described(String words) {
        return with("description", words);
    }

    private Schema with(String keyword, Object value) {
        Map<String, Object> all = new LinkedHashMap<>(keywords);
        all.put(keyword, value);
        return new Schema(name, all);
    }

    String name() {
        return name;
    }

    /** Writes a reference, and adds this to {@code components}; writes this itself where it has no name. */
    public void write(JsonWriter json, Components components) {
        if (name.isEmpty()) {
            writeInPlace(json, components);
        } else {
            components.refer(json, this);
        }
    }

    void writeInPlace(JsonWriter json, Components components) {
        writeMap(json, keywords, components);
    }

    private static void writeMap(JsonWriter json, Map<?, ?> map, Components components) {
        char separator = '{';
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            json.raw(separator).string(entry.getKey().toString()).raw(':');
            writeValue(json, entry.getValue(), components);
            separator = ',';
        }
        json.raw(map.isEmpty() ? "{}" : "}");
    }

    private static void writeValue(JsonWriter json, Object value, Components components) {
        switch (value) {
            case Schema schema -> schema.write(json, components);
            case Map<?, ?> map -> writeMap(json, map, components);
            case List<?> list -> {
                char separator = '[';
                for (Object element : list) {
                    json.raw(separator);
                    writeValue(json, element, components);
                    separator = ',';
                }
                json.raw(list.isEmpty() ? "[]" : "]");
            }
            case Literal.NULL -> json.raw("null");
            case Boolean bool -> json.bool(bool);
            case Long number -> json.signed(number);
            case BigInteger number -> json.raw(number.toString());
            default -> json.string(value.toString());
        }
    }
}
