import com.alibaba.fastjson2.JSON;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Reads topics with RocketMQ's own Java client. Each line names a name server and a topic; the answer is a line of JSON for
 * each message of each queue, in order, and then `.`; or `ERROR` and the reason.
 */
public class RocketmqRead {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // the client's log says some things on it
        DefaultMQPullConsumer consumer = null;
        String known = null;
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            try {
                if (!words[0].equals(known)) {
                    if (consumer != null) {
                        consumer.shutdown();
                    }
                    consumer = new DefaultMQPullConsumer("reader");
                    consumer.setInstanceName(words[0]);
                    consumer.setNamesrvAddr(words[0]);
                    consumer.start();
                    known = words[0];
                }
                out.print(answer(consumer, words[1]));
            } catch (Exception e) {
                out.print(("ERROR " + e).replace('\n', ' ') + "\n");
            }
            out.print(".\n");
            out.flush();
        }
        System.exit(0);
    }

    /** A broker stores and acknowledges a message before it is in its queue's index, which ends at `maxOffset`. */
    private static void awaitIndex(MQClientInstance client, String broker) throws Exception {
        String address = client.findBrokerAddressInPublish(broker);
        for (int i = 0; i < 3000; i++) {
            Map<String, String> facts = client.getMQClientAPIImpl().getBrokerRuntimeInfo(address, 10_000).getTable();
            if (facts.get("dispatchBehindBytes").equals("0")) {
                return;
            }
            Thread.sleep(10);
        }
        throw new IllegalStateException("the broker's queues do not catch up with its commit log");
    }

    /** The client waits three seconds for an answer; a busy broker or name server is asked again. */
    private static StringBuilder answer(DefaultMQPullConsumer consumer, String topic) throws Exception {
        for (int attempt = 1; ; attempt++) {
            try {
                return read(consumer, topic);
            } catch (Exception e) {
                if (attempt == 20) {
                    throw e;
                }
                Thread.sleep(500);
            }
        }
    }

    private static StringBuilder read(DefaultMQPullConsumer consumer, String topic) throws Exception {
        StringBuilder out = new StringBuilder();
        Set<MessageQueue> queues = consumer.fetchSubscribeMessageQueues(topic);
        MQClientInstance client = consumer.getDefaultMQPullConsumerImpl().getRebalanceImpl().getmQClientFactory();
        client.updateTopicRouteInfoFromNameServer(topic);
        for (String broker : queues.stream().map(MessageQueue::getBrokerName).collect(Collectors.toSet())) {
            awaitIndex(client, broker);
        }
        for (MessageQueue queue : queues) {
            long end = consumer.maxOffset(queue);
            for (long at = consumer.minOffset(queue); at < end; ) {
                PullResult found = consumer.pull(queue, "*", at, 2000);
                if (found.getPullStatus() == PullStatus.FOUND) {
                    for (MessageExt message : found.getMsgFoundList()) {
                        Map<String, Object> facts = new LinkedHashMap<>();
                        facts.put("queue", message.getQueueId());
                        facts.put("offset", message.getQueueOffset());
                        facts.put("tag", message.getTags());
                        facts.put("keys", message.getKeys());
                        facts.put("properties", message.getProperties());
                        facts.put("body", Base64.getEncoder().encodeToString(message.getBody()));
                        out.append(JSON.toJSONString(facts)).append('\n');
                    }
                }
                at = found.getNextBeginOffset();
            }
        }
        return out;
    }
}
