import io.confluent.connect.avro.AvroConverter;
import io.confluent.kafka.schemaregistry.client.MockSchemaRegistryClient;
import io.confluent.kafka.schemaregistry.client.SchemaMetadata;
import io.debezium.embedded.Connect;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.transforms.ExtractNewRecordState;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FileReader;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.BufferedWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Properties;
import java.util.StringJoiner;
import org.apache.avro.AvroRuntimeException;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;

/**
 * Debezium's embedded engine. The only argument names a file of properties; standard output has one line a record while
 * the engine runs. It ends after the streamed row with id 0 whose topic is the property `cdcsim.stop`.
 *
 * <p>A line has eight cells with tabs between: record or unwrapped, topic, partition, key, value, headers as name=value
 * with U+001F between, and key and value in Avro. Key and value are texts of Kafka Connect's JSON converter, in which
 * tabs and line feeds are escaped, and hexadecimal digits of what Confluent's Avro converter writes, or ! and what it
 * says; an empty cell is no bytes. A line `unwrapped` follows its record, if ExtractNewRecordState (its properties begin
 * with `unwrap.`) leaves one. The last lines have three cells: schema, and the id and text of one in the registry.
 */
final class EngineRun {
    private static final JsonConverter KEYS = new JsonConverter();
    private static final JsonConverter VALUES = new JsonConverter();
    private static final MockSchemaRegistryClient REGISTRY = new MockSchemaRegistryClient();
    private static final AvroConverter AVRO_KEYS = new AvroConverter(REGISTRY);
    private static final AvroConverter AVRO_VALUES = new AvroConverter(REGISTRY);
    private static final SimpleHeaderConverter HEADERS = new SimpleHeaderConverter();
    private static final ExtractNewRecordState<SourceRecord> UNWRAP = new ExtractNewRecordState<>();
    private static Writer out;

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        try (FileReader file = new FileReader(args[0], StandardCharsets.UTF_8)) {
            properties.load(file);
        }
        out = new BufferedWriter(
            new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8), 1 << 16);
        KEYS.configure(part(properties, "key.converter."), true);
        VALUES.configure(part(properties, "value.converter."), false);
        AVRO_KEYS.configure(Map.of("schema.registry.url", "mock://tests"), true);
        AVRO_VALUES.configure(Map.of("schema.registry.url", "mock://tests"), false);
        HEADERS.configure(Map.of());
        UNWRAP.configure(part(properties, "unwrap."));
        String stop = properties.getProperty("cdcsim.stop");
        Thread[] closing = {null};
        Object[] engine = {null};
        DebeziumEngine<ChangeEvent<SourceRecord, SourceRecord>> built =
            DebeziumEngine.create(Connect.class)
                .using(properties)
                .using((success, message, error) -> {
                    if (!success) {
                        System.err.println(message);
                        if (error != null) {
                            error.printStackTrace();
                        }
                    }
                })
                .notifying((events, committer) -> {
                    for (ChangeEvent<SourceRecord, SourceRecord> event : events) {
                        SourceRecord record = event.value();
                        print("record", record);
                        SourceRecord unwrapped = UNWRAP.apply(record);
                        if (unwrapped != null) {
                            print("unwrapped", unwrapped);
                        }
                        committer.markProcessed(event);
                        if (record.topic().equals(stop) && isLast(record) && closing[0] == null) {
                            closing[0] = new Thread(() -> close(engine[0]));
                            closing[0].start();
                        }
                    }
                    flush();
                    committer.markBatchFinished();
                })
                .build();
        engine[0] = built;
        built.run();
        printSchemas();
        flush();
        Runtime.getRuntime().halt(closing[0] == null ? 1 : 0);
    }

    private static boolean isLast(SourceRecord record) {
        return record.value() instanceof org.apache.kafka.connect.data.Struct value
            && value.schema().field("op") != null
            && "c".equals(value.getString("op"))
            && value.getStruct("after").getInt32("id") == 0;
    }

    private static void close(Object engine) {
        try {
            ((DebeziumEngine<?>) engine).close();
        } catch (Exception error) {
            error.printStackTrace();
        }
    }

    private static void print(String kind, SourceRecord record) {
        StringJoiner headers = new StringJoiner("\u001f");
        for (Header header : record.headers()) {
            // a tombstone shares its headers with the delete before it, to which the transform has added its own
            if (kind.equals("record") && !header.key().startsWith("__debezium.")) {
                continue;
            }
            byte[] value = HEADERS.fromConnectHeader(record.topic(), header.key(), header.schema(), header.value());
            headers.add(header.key() + "=" + text(value));
        }
        byte[] key = KEYS.fromConnectData(record.topic(), record.keySchema(), record.key());
        byte[] value = VALUES.fromConnectData(record.topic(), record.valueSchema(), record.value());
        String partition = record.kafkaPartition() == null ? "" : record.kafkaPartition().toString();
        String avroKey = avro(AVRO_KEYS, record.topic(), record.keySchema(), record.key());
        String avroValue = avro(AVRO_VALUES, record.topic(), record.valueSchema(), record.value());
        line(kind, record.topic(), partition, text(key), text(value), headers.toString(), avroKey, avroValue);
    }

    private static String avro(AvroConverter converter, String topic, Schema schema, Object value) {
        try {
            byte[] bytes = converter.fromConnectData(topic, schema, value);
            return bytes == null ? "" : HexFormat.of().formatHex(bytes);
        } catch (DataException | AvroRuntimeException error) {
            return "!" + error.toString().replaceAll("\\s+", " ");
        }
    }

    private static void printSchemas() throws Exception {
        for (String subject : REGISTRY.getAllSubjects()) {
            for (int version : REGISTRY.getAllVersions(subject)) {
                SchemaMetadata schema = REGISTRY.getSchemaMetadata(subject, version);
                line("schema", Integer.toString(schema.getId()), schema.getSchema());
            }
        }
    }

    private static void line(String... cells) {
        try {
            out.write(String.join("\t", cells));
            out.write('\n');
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }

    private static void flush() {
        try {
            out.flush();
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
    }

    private static Map<String, Object> part(Properties properties, String prefix) {
        Map<String, Object> part = new HashMap<>();
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(prefix)) {
                part.put(name.substring(prefix.length()), properties.getProperty(name));
            }
        }
        return part;
    }
}
