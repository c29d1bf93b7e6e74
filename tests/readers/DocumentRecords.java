import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import io.debezium.config.Configuration;
import io.debezium.connector.SnapshotRecord;
import io.debezium.connector.mongodb.CollectionId;
import io.debezium.connector.mongodb.MongoDbCollectionSchema;
import io.debezium.connector.mongodb.MongoDbConnectorConfig;
import io.debezium.connector.mongodb.MongoDbEventMetadataProvider;
import io.debezium.connector.mongodb.MongoDbOffsetContext;
import io.debezium.connector.mongodb.MongoDbPartition;
import io.debezium.connector.mongodb.MongoDbSchema;
import io.debezium.connector.mongodb.MongoDbTaskContext;
import io.debezium.connector.mongodb.recordemitter.MongoDbChangeRecordEmitter;
import io.debezium.connector.mongodb.recordemitter.MongoDbSnapshotRecordEmitter;
import io.debezium.connector.mongodb.transforms.ExtractNewDocumentState;
import io.debezium.data.Envelope;
import io.debezium.pipeline.spi.ChangeRecordEmitter;
import io.debezium.pipeline.txmetadata.TransactionMonitor;
import io.debezium.schema.DataCollectionSchema;
import io.debezium.util.Clock;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.StringReader;
import java.io.Writer;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.bson.BsonDocument;
import org.bson.BsonDocumentReader;
import org.bson.codecs.Codec;
import org.bson.codecs.DecoderContext;

/**
 * Records of Debezium's connector for MongoDB, from events of a change stream and documents of a snapshot, without a
 * server: the connector's own classes make the records, Kafka Connect's JSON converter the texts.
 *
 * <p>A line with U+001F has the properties of the connector, of `key.converter.`, `value.converter.` and `unwrap.`, with
 * U+001F between; those that follow are read with them. Any other is a document in extended JSON: `now`, the connector's
 * clock in milliseconds, and `event`, as a change stream has it, or `document` of the collection `database`,
 * `collection`, and whether it is the `last` of the snapshot. The answer has a line for each record: `record` or
 * `unwrapped`, topic, key and value, with tabs between; an empty cell is no bytes.
 */
public final class DocumentRecords {
    private final JsonConverter keys = new JsonConverter();
    private final JsonConverter values = new JsonConverter();
    private final ExtractNewDocumentState<SourceRecord> unwrap = new ExtractNewDocumentState<>();
    private final MongoDbConnectorConfig config;
    private final MongoDbSchema schema;
    private final MongoDbOffsetContext offset;
    private final MongoDbPartition partition;
    private final TransactionMonitor monitor;
    private final Codec<ChangeStreamDocument<BsonDocument>> codec;
    private final StringBuilder answer = new StringBuilder();

    private DocumentRecords(Properties properties) throws Exception {
        Configuration configuration = Configuration.from(properties);
        config = new MongoDbConnectorConfig(configuration);
        schema = new MongoDbSchema(
            config,
            new MongoDbTaskContext(configuration),
            config.getTopicNamingStrategy(MongoDbConnectorConfig.TOPIC_NAMING_STRATEGY),
            config.getSourceInfoStructMaker().schema(),
            config.schemaNameAdjuster());
        offset = MongoDbOffsetContext.empty(config);
        partition = new MongoDbPartition(properties.getProperty("topic.prefix"));
        monitor = new TransactionMonitor(
            config,
            new MongoDbEventMetadataProvider(),
            config.schemaNameAdjuster(),
            record -> print("record", record),
            properties.getProperty("topic.prefix") + ".transaction");
        codec = ChangeStreamDocument.createCodec(
            BsonDocument.class, MongoClientSettings.getDefaultCodecRegistry());
        keys.configure(part(properties, "key.converter."), true);
        values.configure(part(properties, "value.converter."), false);
        unwrap.configure(part(properties, "unwrap."));
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 16);
        DocumentRecords records = null;
        for (String line; (line = in.readLine()) != null; ) {
            if (line.indexOf('\u001f') >= 0) {
                Properties properties = new Properties();
                properties.load(new StringReader(line.replace('\u001f', '\n')));
                records = new DocumentRecords(properties);
            } else {
                records.read(BsonDocument.parse(line));
                out.write(records.answer.toString());
                records.answer.setLength(0);
            }
            out.write(".\n");
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    private void read(BsonDocument line) throws Exception {
        Instant now = Instant.ofEpochMilli(line.getNumber("now").longValue());
        Clock clock = new Clock() {
            @Override
            public long currentTimeInMillis() {
                return now.toEpochMilli();
            }

            @Override
            public Instant currentTime() {
                return now;
            }

            @Override
            public Instant currentTimeAsInstant() {
                return now;
            }
        };
        if (line.containsKey("event")) {
            call("stopInitialSnapshot");
            ChangeStreamDocument<BsonDocument> event =
                codec.decode(new BsonDocumentReader(line.getDocument("event")), DecoderContext.builder().build());
            offset.changeStreamEvent(event);
            CollectionId id = new CollectionId(
                event.getNamespace().getDatabaseName(), event.getNamespace().getCollectionName());
            emit(id, new MongoDbChangeRecordEmitter(partition, offset, clock, event, config), true);
        } else {
            CollectionId id =
                new CollectionId(line.getString("database").getValue(), line.getString("collection").getValue());
            call("startInitialSnapshot");
            Method token = offset.sourceInfo().getClass().getDeclaredMethod("noEvent", String.class);
            token.setAccessible(true);
            token.invoke(offset.sourceInfo(), "token");  // what opens a snapshot: a place without a time
            offset.readEvent(id, now);
            BsonDocument document = line.getDocument("document");
            last = line.getBoolean("last").getValue();
            emit(id, new MongoDbSnapshotRecordEmitter(partition, offset, clock, document, config), false);
            last = false;
        }
    }

    private boolean last;

    /** Those of the package alone. */
    private void call(String name) throws Exception {
        Method method = MongoDbOffsetContext.class.getDeclaredMethod(name);
        method.setAccessible(true);
        method.invoke(offset);
    }

    private void emit(CollectionId id, ChangeRecordEmitter<MongoDbPartition> emitter, boolean streamed)
            throws Exception {
        MongoDbCollectionSchema of = (MongoDbCollectionSchema) schema.schemaFor(id);
        emitter.emitChangeRecords(of, new ChangeRecordEmitter.Receiver<MongoDbPartition>() {
            @Override
            public void changeRecord(MongoDbPartition partition, DataCollectionSchema collection,
                    Envelope.Operation operation, Object key, Struct value,
                    io.debezium.pipeline.spi.OffsetContext offset, ConnectHeaders headers) throws InterruptedException {
                if (streamed) {
                    monitor.dataEvent(partition, id, offset, key, value);
                } else if (last) {  // as the dispatcher does when the snapshot is complete
                    SnapshotRecord.LAST.toSource(value.getStruct("source"));
                }
                String topic = config.getTopicNamingStrategy(MongoDbConnectorConfig.TOPIC_NAMING_STRATEGY)
                    .dataChangeTopic(id);
                both(new SourceRecord(Map.of(), Map.of(), topic, null, of.keySchema(), key, of.valueSchema(), value));
                if (operation == Envelope.Operation.DELETE) {
                    both(new SourceRecord(Map.of(), Map.of(), topic, null, of.keySchema(), key, null, null));
                }
            }
        });
    }

    private void both(SourceRecord record) {
        print("record", record);
        SourceRecord unwrapped;
        try {
            unwrapped = unwrap.apply(record);
        } catch (RuntimeException error) {
            answer.append("unwrapped\tERROR\t").append(error.getMessage()).append("\t\n");
            return;
        }
        if (unwrapped != null) {
            print("unwrapped", unwrapped);
        }
    }

    private void print(String kind, SourceRecord record) {
        byte[] key = keys.fromConnectData(record.topic(), record.keySchema(), record.key());
        byte[] value = values.fromConnectData(record.topic(), record.valueSchema(), record.value());
        answer.append(String.join("\t", kind, record.topic(), text(key), text(value))).append('\n');
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
