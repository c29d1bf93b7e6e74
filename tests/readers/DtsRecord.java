import com.aliyun.dts.subscribe.clients.formats.avro.Record;
import com.aliyun.dts.subscribe.clients.record.DefaultUserRecord;
import com.aliyun.dts.subscribe.clients.record.RecordField;
import com.aliyun.dts.subscribe.clients.record.RecordSchema;
import com.aliyun.dts.subscribe.clients.record.RowImage;
import com.aliyun.dts.subscribe.clients.record.UserRecord;
import com.aliyun.dts.subscribe.clients.record.value.Value;
import com.aliyun.dts.subscribe.clients.recordgenerator.AvroDeserializer;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Each line is a record in hexadecimal digits. The answer is what a subscriber gets of it from the vendor's SDK, as a
 * JSON object: the operation, names, fields, keys and, of each value, the SDK's type and text; or `ERROR` and the reason.
 */
public class DtsRecord {
    static final Gson GSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    public static void main(String[] args) throws Exception {
        // what the SDK logs goes to the other stream
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        AvroDeserializer deserializer = new AvroDeserializer();
        for (String line; (line = in.readLine()) != null; ) {
            String answer;
            try {
                answer = GSON.toJson(told(deserializer.deserialize(HexFormat.of().parseHex(line))));
            } catch (Exception | LinkageError e) {
                answer = ("ERROR " + e).replace('\n', ' ');
            }
            out.print(answer + "\n.\n");
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    static Map<String, Object> told(Record record) {
        UserRecord user = new DefaultUserRecord(null, 0, record, null);
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("id", user.getId());
        told.put("timestamp", user.getSourceTimestamp());
        told.put("operation", record.getOperation().name());
        told.put("sdk", user.getOperationType().name());
        told.put("source", record.getSource().getSourceType().name());
        told.put("position", record.getSourcePosition());
        told.put("tags", record.getTags());
        if (record.getFields() == null) {
            Object text = record.getAfterImages();
            told.put("text", text == null ? null : text.toString());
            return told;
        }
        RecordSchema schema = user.getSchema();
        told.put("database", schema.getDatabaseName().orElse(null));
        told.put("table", schema.getTableName().orElse(null));
        Map<String, Integer> numbers = new LinkedHashMap<>();
        List<String> keys = new ArrayList<>();
        for (RecordField field : schema.getFields()) {
            numbers.put(field.getFieldName(), field.getRawDataTypeNum());
            if (field.isPrimary()) {
                keys.add(field.getFieldName());
            }
        }
        told.put("numbers", numbers);
        told.put("keys", keys);
        told.put("before", values(schema, user.getBeforeImage()));
        told.put("after", values(schema, user.getAfterImage()));
        return told;
    }

    static List<List<String>> values(RecordSchema schema, RowImage image) {
        if (image == null) {
            return null;
        }
        List<List<String>> values = new ArrayList<>();
        for (RecordField field : schema.getFields()) {
            Value<?> value = image.getValue(field.getFieldPosition());
            values.add(value == null ? null : List.of(value.getType().name(), value.toString()));
        }
        return values;
    }
}
