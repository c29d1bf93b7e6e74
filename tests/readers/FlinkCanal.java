import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.formats.avro.registry.confluent.debezium.DebeziumAvroDeserializationSchema;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.canal.CanalJsonDeserializationSchema;
import org.apache.flink.formats.json.debezium.DebeziumJsonDeserializationSchema;
import org.apache.flink.formats.json.maxwell.MaxwellJsonDeserializationSchema;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.TypeConversions;
import org.apache.flink.util.Collector;
import org.apache.flink.util.SimpleUserCodeClassLoader;
import org.apache.flink.util.UserCodeClassLoader;

/**
 * Flink's own canal-json, debezium-json, maxwell-json and debezium-avro-confluent readers in their strict form, asked message by message,
 * without a cluster.
 *
 * A line `ROW<id BIGINT, …>` declares the table that the messages after it are read into, as canal-json; as debezium-json
 * if it begins `debezium ROW<` (payloads) or `debezium-schema ROW<` (with their schema), as maxwell-json if it begins
 * `maxwell ROW<`, as debezium-avro-confluent, with the schemas of a registry, if it begins `avro http://HOST:PORT ROW<`. Every other line is a
 * message, of Avro in hexadecimal digits.
 * Its changelog is answered row by row: {"kind":"+I","row":{"id":"1","name":null}}. Values are texts: timestamps as
 * microseconds and dates as days since 1970, decimals with their scale, bytes in hexadecimal digits. {"error":"…"} stands
 * for a failed job.
 */
public class FlinkCanal {
    static final ObjectMapper JSON = new ObjectMapper();
    static final ClassLoader LOADER = FlinkCanal.class.getClassLoader();

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Table table = null;
        for (String line; (line = in.readLine()) != null; ) {
            try {
                int declared = line.indexOf("ROW<");
                if (declared >= 0 && !line.startsWith("{")) {
                    table = new Table(line.substring(0, declared).strip(), line.substring(declared), out);
                } else {
                    table.read(line);
                }
            } catch (Exception e) {
                ObjectNode told = JSON.createObjectNode();
                out.println(told.put("error", String.valueOf(e.getMessage()).lines().findFirst().orElse("")));
            }
            out.println(".");
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    /** A declared table: its reader, and where the reader puts the rows. */
    static final class Table implements Collector<RowData> {
        final RowType type;
        final DeserializationSchema<RowData> schema;
        final RowData.FieldGetter[] fields;
        final PrintStream out;

        Table(String format, String declared, PrintStream out) throws Exception {
            this.out = out;
            type = (RowType) LogicalTypeParser.parse(declared, LOADER);
            fields = new RowData.FieldGetter[type.getFieldCount()];
            for (int i = 0; i < fields.length; i++) {
                fields[i] = RowData.createFieldGetter(type.getTypeAt(i), i);
            }
            DataType read = TypeConversions.fromLogicalToDataType(type);
            InternalTypeInfo<RowData> made = InternalTypeInfo.of(type);
            boolean enveloped = format.equals("debezium-schema");
            schema = format.startsWith("avro ")
                ? new DebeziumAvroDeserializationSchema(type, made, format.substring(5), null, Map.of())
                : format.startsWith("debezium")
                ? new DebeziumJsonDeserializationSchema(read, List.of(), made, enveloped, false, TimestampFormat.SQL)
                : format.equals("maxwell")
                ? new MaxwellJsonDeserializationSchema(read, List.of(), made, false, TimestampFormat.SQL)
                : CanalJsonDeserializationSchema.builder(read, List.of(), made)
                    .setTimestampFormat(TimestampFormat.SQL)
                    .setIgnoreParseErrors(false)
                    .build();
            schema.open(new DeserializationSchema.InitializationContext() {
                @Override
                public MetricGroup getMetricGroup() {
                    return new UnregisteredMetricsGroup();
                }

                @Override
                public UserCodeClassLoader getUserCodeClassLoader() {
                    return SimpleUserCodeClassLoader.create(LOADER);
                }
            });
        }

        void read(String line) throws IOException {
            boolean isText = !(schema instanceof DebeziumAvroDeserializationSchema);
            schema.deserialize(isText ? line.getBytes(StandardCharsets.UTF_8) : HexFormat.of().parseHex(line), this);
        }

        @Override
        public void collect(RowData data) {
            ObjectNode told = JSON.createObjectNode().put("kind", data.getRowKind().shortString());
            ObjectNode row = told.putObject("row");
            for (int i = 0; i < fields.length; i++) {
                row.put(type.getFieldNames().get(i), text(fields[i].getFieldOrNull(data)));
            }
            out.println(told);
        }

        @Override
        public void close() {}
    }

    static String text(Object value) {
        if (value instanceof TimestampData moment) {
            return String.valueOf(moment.getMillisecond() * 1000 + moment.getNanoOfMillisecond() / 1000);
        }
        if (value instanceof DecimalData number) {
            return number.toBigDecimal().toPlainString();
        }
        if (value instanceof byte[] bytes) {
            return HexFormat.of().formatHex(bytes);
        }
        return value == null ? null : value.toString();
    }
}
